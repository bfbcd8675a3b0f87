import { rootType, scopeOf, setCondition, type ConditionChange } from '#kube/conditions.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { finalizers } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { coded } from '../reason.ts';
import { patchStatus } from '../status-patch.ts';
import { stillInUse } from './events.ts';
import type { NodeClassSecrets } from './secrets.ts';
import type { StoredRevisions } from './stored-revisions.ts';

/** More names than this make a message nobody reads. */
const namesShown = 10;

/**
 * The end of a node class: it waits for the last claim that uses it, since claims are unmade from its revisions, and
 * then takes with it what was made for it.
 */
export class Termination {
  readonly #context: Context;
  readonly #revisions: StoredRevisions;
  readonly #secrets: NodeClassSecrets;

  constructor(context: Context, revisions: StoredRevisions, secrets: NodeClassSecrets) {
    this.#context = context;
    this.#revisions = revisions;
    this.#secrets = secrets;
  }

  async run(nodeClass: Live<UnikraftNodeClass>): Promise<void> {
    const { name, uid } = nodeClass.metadata;
    if (!nodeClass.metadata.finalizers?.includes(finalizers.nodeClass)) return;
    const claims = await this.#claimsOf(name);
    if (claims.length > 0) return this.#tellWhoUsesIt(nodeClass, claims);
    await this.removeMadeFor(name);
    const left = nodeClass.metadata.finalizers.filter((one) => one !== finalizers.nodeClass);
    const { resourceVersion } = nodeClass.metadata;
    const body = { metadata: { uid, resourceVersion, finalizers: left } };
    await this.#context.client.patch(unikraftNodeClasses, { name }, { type: 'merge', body });
  }

  /** Revisions and authority of a class of which nothing is left; safe to repeat. */
  async removeMadeFor(nodeClass: string): Promise<void> {
    await this.#revisions.removeAll(nodeClass);
    await this.#secrets.removeAuthority(nodeClass);
  }

  /** The cache may not know a claim that was made a moment ago, so the last word is the API server's. */
  async #claimsOf(nodeClass: string): Promise<Live<NodeClaim>[]> {
    const cached = this.#context.caches.nodeClaims.by(by.nodeClass, nodeClass).filter(isOurs);
    if (cached.length > 0) return cached;
    const { items } = await this.#context.client.list(nodeClaims);
    return items.filter((claim) => isOurs(claim) && claim.spec.nodeClassRef.name === nodeClass);
  }

  async #tellWhoUsesIt(
    nodeClass: Live<UnikraftNodeClass>,
    claims: readonly Live<NodeClaim>[],
  ): Promise<void> {
    const message = coded(
      `${users(claims.map(({ metadata }) => metadata.name))}. It goes with the last of them: delete the NodePools ` +
        'that use it, or the NodeClaims themselves',
      'KPU202',
    );
    const { client, clock, recorder } = this.#context;
    const scope = scopeOf(nodeClass, clock.stamp());
    const changes: ConditionChange[] = [
      { type: 'Deleting', status: 'True', reason: 'WaitingForNodeClaims', message },
      { type: rootType, status: 'False', reason: 'Terminating', message },
    ];
    const conditions = changes.reduce<Condition[]>(
      (before, change) => setCondition(before, change, scope),
      nodeClass.status?.conditions ?? [],
    );
    const status = { ...nodeClass.status, conditions, machines: claims.length };
    await patchStatus(client, unikraftNodeClasses, nodeClass, status);
    recorder.record(stillInUse(nodeClass, message));
  }
}

/** `12 NodeClaims still use it: a, b, … and 2 more` */
export function users(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, namesShown).join(', ');
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
  const count =
    names.length === 1 ? '1 NodeClaim still uses it' : `${names.length} NodeClaims still use it`;
  return `${count}: ${shown}${more}`;
}
