import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { ResolvedNodeClass, UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

import type { Context } from '../context.ts';

/** What a machine is made from: the name to stamp on its claim, and what it stands for. */
export interface Revision {
  readonly name: string;
  readonly nodeClass: ResolvedNodeClass;
}

/**
 * The stored revisions of node classes, from the caches.
 *
 * Subnets and security groups are no part of a revision's identity: a subnet that is added to the network must not
 * replace machines. For the newest revision the class's status holds the latest lookup, and that is what is given
 * out; older revisions give what they were stored with.
 */
export class Revisions {
  readonly #context: Pick<Context, 'caches' | 'namespace'>;

  constructor(context: Pick<Context, 'caches' | 'namespace'>) {
    this.#context = context;
  }

  /** @param name of the ControllerRevision, as claims carry it; undefined when it is gone or was never ours */
  get(name: string): ResolvedNodeClass | undefined {
    const { caches, namespace } = this.#context;
    const stored = caches.revisions.get(`${namespace}/${name}`);
    const resolved = stored && resolvedIn(stored);
    if (!resolved) return undefined;
    return withLatestPlacement(resolved, name, caches.nodeClasses.get(resolved.nodeClass));
  }

  /** What new machines of a class are made from; undefined while nothing can be launched. */
  current(nodeClass: string): Revision | undefined {
    const name = this.#context.caches.nodeClasses.get(nodeClass)?.status?.currentRevision;
    const resolved = name === undefined ? undefined : this.get(name);
    return name !== undefined && resolved ? { name, nodeClass: resolved } : undefined;
  }
}

/** What a ControllerRevision of ours holds; undefined when it holds anything else. */
export function resolvedIn(revision: ControllerRevision): ResolvedNodeClass | undefined {
  const data = revision.data as Partial<ResolvedNodeClass> | undefined;
  const whole = data?.nodeClass && data.spec && data.image && data.subnets && data.securityGroups;
  return whole ? (data as ResolvedNodeClass) : undefined;
}

function withLatestPlacement(
  resolved: ResolvedNodeClass,
  name: string,
  nodeClass: UnikraftNodeClass | undefined,
): ResolvedNodeClass {
  const { updateRevision, subnets = [], securityGroups = [] } = nodeClass?.status ?? {};
  if (updateRevision !== name || subnets.length === 0) return resolved;
  return {
    ...resolved,
    subnets: subnets.map(({ id, zone, zoneID = '' }) => ({ id, zone, zoneID })),
    securityGroups: securityGroups.map(({ id }) => id),
  };
}
