import type { KubeClient } from '#kube/client/client.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import { CannotPrepare, fieldValue } from './field-ref.ts';
import type { EnvFrom, EnvSource, KeyRef, RunnableContainer } from './pod-spec.ts';
import { Sources, type SourceKind } from './sources.ts';

/** What a container is told, as the Pod says it: not yet in words of this computer. */
export interface Spoken {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/**
 * Gathers a container's environment and fills `$(VAR)` in it, in its command and in its args.
 *
 * @param given what every container gets; what the Pod says is stronger
 * @throws CannotPrepare when a Secret, ConfigMap or key that must be there is missing
 */
export async function spokenTo(
  client: KubeClient,
  pod: Live<Pod>,
  container: RunnableContainer,
  given: Readonly<Record<string, string>>,
): Promise<Spoken> {
  const reader = new EnvReader(client, pod);
  const env: Record<string, string> = { ...given };
  for (const source of container.envFrom ?? []) {
    // oxlint-disable-next-line no-await-in-loop -- later ones are stronger
    Object.assign(env, await reader.all(source));
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    // oxlint-disable-next-line no-await-in-loop -- later ones may speak of earlier ones
    const read = valueFrom ? await reader.one(valueFrom) : expand(value ?? '', env);
    if (read !== undefined) env[name] = read;
  }
  const fill = (text: string): string => expand(text, env);
  return {
    env,
    command: (container.command ?? []).map(fill),
    args: (container.args ?? []).map(fill),
  };
}

/**
 * `$(NAME)` becomes the variable's value, `$$(NAME)` the text `$(NAME)`; an unknown name stays as it is.
 *
 * Source: Kubernetes, API reference of Container, `args`.
 */
export function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(env, name) ? (env[name] ?? '') : match;
  });
}

class EnvReader {
  readonly #sources: Sources;
  readonly #pod: Live<Pod>;

  constructor(client: KubeClient, pod: Live<Pod>) {
    this.#sources = new Sources(client);
    this.#pod = pod;
  }

  async all({ prefix = '', secretRef, configMapRef }: EnvFrom): Promise<Record<string, string>> {
    const data = secretRef
      ? await this.#read('secret', secretRef)
      : await this.#read('configMap', configMapRef ?? { name: '' });
    const entries = [...(data ?? [])].map(([key, value]) => [prefix + key, value.toString()]);
    return Object.fromEntries(entries) as Record<string, string>;
  }

  /** Undefined when it is optional and not there: the variable is then not set. */
  async one(source: EnvSource): Promise<string | undefined> {
    if (source.fieldRef) return fieldValue(this.#pod, source.fieldRef.fieldPath);
    if (source.secretKeyRef) return this.#key('secret', source.secretKeyRef);
    if (source.configMapKeyRef) return this.#key('configMap', source.configMapKeyRef);
    throw new CannotPrepare(`the host node does not know ${Object.keys(source).join(', ')}`);
  }

  async #key(kind: SourceKind, ref: KeyRef): Promise<string | undefined> {
    const value = (await this.#read(kind, ref))?.get(ref.key);
    if (value || ref.optional) return value?.toString();
    throw new CannotPrepare(`${kind.toLowerCase()} "${ref.name}" has no key "${ref.key}"`);
  }

  async #read(kind: SourceKind, ref: { readonly name: string; readonly optional?: boolean }) {
    return this.#sources.read(kind, this.#pod.metadata.namespace ?? 'default', ref);
  }
}
