import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { isTrue } from '#kube/conditions.ts';
import type { Condition, KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import {
  customResourceDefinitions,
  keyText,
  type Key,
  type Resource,
} from '#schemas/kubernetes/resource.ts';
import { milliseconds, seconds, type Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { Discovery } from './discovery.ts';
import { inOrder, isCrd } from './order.ts';
import type { Manifest } from './render.ts';

export interface ApplyOptions {
  readonly clock?: Clock;
  /** Where namespaced objects go that name no namespace. Default `default`. */
  readonly namespace?: string;
}

/** An object was refused, or cannot be placed; the message names it and says why. */
export class ApplyFailed extends Error {
  override readonly name = 'ApplyFailed';
}

/**
 * Applies all objects server-side as the client's field manager, taking over fields that others hold: CRDs first,
 * waiting until they are served, then namespaces and what Pods need, webhook configurations last.
 *
 * @returns the objects as they are now, in the order in which they were applied
 * @throws ApplyFailed at the first one that is refused
 */
export async function applyAll(
  client: KubeClient,
  objects: readonly Manifest[],
  options: ApplyOptions = {},
): Promise<Live<KubeObject>[]> {
  const { clock = new SystemClock(), namespace = 'default' } = options;
  const discovery = new Discovery(client);
  const sorted = inOrder(objects);
  const crds = sorted.filter(isCrd);
  const rest = sorted.filter((object) => !isCrd(object));
  const applied = await inTurn(crds, (object) => apply(client, discovery, object, namespace));
  await Promise.all(crds.map((crd) => untilEstablished(client, crd, clock)));
  const others = await inTurn(rest, (object) => apply(client, discovery, object, namespace));
  return [...applied, ...others];
}

/** Asks for the end of each object; those that are gone already are fine. Finalizers are not waited for. */
export async function deleteAll(
  client: KubeClient,
  objects: readonly Manifest[],
  { namespace = 'default' }: Pick<ApplyOptions, 'namespace'> = {},
): Promise<void> {
  const discovery = new Discovery(client);
  await inTurn(objects, async (object) => {
    const { resource, key } = await placeOf(discovery, object, namespace);
    await client.delete(resource, key).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  });
}

async function apply(
  client: KubeClient,
  discovery: Discovery,
  object: Manifest,
  namespace: string,
): Promise<Live<KubeObject>> {
  const { resource, key } = await placeOf(discovery, object, namespace);
  const body = { ...object, metadata: { ...object.metadata, ...key } };
  return client.patch(resource, key, { type: 'apply', body, force: true }).catch((cause: Error) => {
    throw new ApplyFailed(`${describe(object)}: ${cause.message}`, { cause });
  });
}

async function placeOf(
  discovery: Discovery,
  object: Manifest,
  namespace: string,
): Promise<{ resource: Resource; key: Key }> {
  const resource = await discovery.find(object);
  if (!resource) {
    throw new ApplyFailed(
      `${describe(object)}: the API server does not serve ${object.apiVersion} ${object.kind}; apply its CRD first`,
    );
  }
  const { name } = object.metadata;
  const key = resource.namespaced
    ? { namespace: object.metadata.namespace ?? namespace, name }
    : { name };
  return { resource, key };
}

interface Crd extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** A new kind is served a moment after its CRD says Established; the API server needs some tenths of a second. */
async function untilEstablished(client: KubeClient, crd: Manifest, clock: Clock): Promise<void> {
  const end = clock.now() + seconds(30);
  while (clock.now() < end) {
    // oxlint-disable-next-line no-await-in-loop -- asked again until it is so
    const { status } = await client.get<Crd>(customResourceDefinitions, crd.metadata);
    if (isTrue(status?.conditions, 'Established')) return;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await clock.sleep(milliseconds(100));
  }
  throw new ApplyFailed(`${describe(crd)} is not Established after 30 s`);
}

async function inTurn<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<B[]> {
  const results: B[] = [];
  // oxlint-disable-next-line no-await-in-loop -- later objects need earlier ones
  for (const item of items) results.push(await work(item));
  return results;
}

function describe({ kind, metadata }: Manifest): string {
  return `${kind} ${keyText(metadata)}`;
}
