/** What a write does to an object, and when it is refused. */
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

import { conflict } from './refusals.ts';

/** Kinds of ours and of the core group whose status only the subresource may write. */
export const withStatus: ReadonlySet<string> = new Set([
  'Pod',
  'Node',
  'NodeClaim',
  'NodePool',
  'UnikraftNodeClass',
  'StatefulSet',
  'DaemonSet',
  'PodDisruptionBudget',
]);

export function checkPreconditions(
  resource: Resource,
  { metadata }: Live<KubeObject>,
  wanted: { uid?: string; resourceVersion?: string },
): void {
  const same = (mine: string, asked: string | undefined): boolean =>
    asked === undefined || asked === '' || asked === mine;
  if (same(metadata.uid, wanted.uid) && same(metadata.resourceVersion, wanted.resourceVersion))
    return;
  throw conflict(resource, metadata.name);
}

/** A write to the object leaves its status alone; a write to its status leaves all else alone. */
export function merged<T extends KubeObject>(
  resource: Resource<T>,
  before: Live<T>,
  wanted: T,
  subresource: string | undefined,
): Live<T> {
  const statusOf = (object: T): { status?: unknown } => {
    const { status } = object as T & { status?: unknown };
    return status === undefined ? {} : { status };
  };
  if (subresource === 'status') return { ...structuredClone(before), ...statusOf(wanted) };
  const { status: _, ...rest } = wanted as T & { status?: unknown };
  const status = withStatus.has(resource.kind) ? statusOf(before) : statusOf(wanted);
  const { uid, resourceVersion, creationTimestamp, deletionTimestamp, generation, name } =
    before.metadata;
  const kept = {
    uid,
    resourceVersion,
    name,
    ...given({ creationTimestamp, deletionTimestamp, generation }),
  };
  return structuredClone({
    ...rest,
    ...status,
    metadata: { ...wanted.metadata, ...kept },
  }) as unknown as Live<T>;
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export const specOf = (object: KubeObject): string =>
  JSON.stringify((object as { spec?: unknown }).spec ?? null);

export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
