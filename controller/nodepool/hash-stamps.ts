import type { KubeClient } from '#kube/client/client.ts';
import { isTrue } from '#kube/conditions.ts';
import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';

import { hashVersion, nodePoolHash } from './hash.ts';

/**
 * Keeps the template's hash on the NodePool, and, when the way of hashing changed with a new version of this
 * program, carries claims over so that none is replaced for it.
 *
 * Claims come first: after a crash in between the pool still shows the old version, and it is done again. What
 * decides about a claim is the claim's own version, never that of the pool: a `kubectl replace` takes the pool's
 * annotations away together with a changed template, and must not make old machines look new.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodepool/hash, which looks at the pool's version alone.
 */
export class HashStamps {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** @returns the pool as it reads now */
  async stamp(pool: Live<NodePool>, claims: readonly Live<NodeClaim>[]): Promise<Live<NodePool>> {
    const wanted = stampsOf(nodePoolHash(pool));
    if (pool.metadata.deletionTimestamp !== undefined || carries(pool, wanted)) return pool;
    const olden = claims.filter((claim) => isOfAnotherVersion(claim));
    await Promise.all(olden.map((claim) => this.#carryOver(claim, pool, wanted)));
    const { name, resourceVersion } = pool.metadata;
    const body = { metadata: { resourceVersion, annotations: wanted } };
    return this.#client.patch(nodePools, { name }, { type: 'merge', body });
  }

  /** A machine that was made from an older template keeps its hash, and so is told apart under the new version too. */
  async #carryOver(claim: Live<NodeClaim>, pool: NodePool, wanted: Stamps): Promise<void> {
    const before = claim.metadata.annotations?.[annotations.nodePoolHash];
    const upToDate = before === pool.metadata?.annotations?.[annotations.nodePoolHash];
    const kept = stampsOf(upToDate ? wanted[annotations.nodePoolHash] : (before ?? ''));
    const { name, resourceVersion } = claim.metadata;
    const body = { metadata: { resourceVersion, annotations: kept } };
    await this.#client.patch(nodeClaims, { name }, { type: 'merge', body });
  }
}

type Stamps = Record<
  typeof annotations.nodePoolHash | typeof annotations.nodePoolHashVersion,
  string
>;

function stampsOf(hash: string): Stamps {
  return {
    [annotations.nodePoolHash]: hash,
    [annotations.nodePoolHashVersion]: hashVersion,
  } as Stamps;
}

function carries(pool: NodePool, wanted: Stamps): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => pool.metadata?.annotations?.[key] === value,
  );
}

function isOfAnotherVersion({ metadata, status }: Live<NodeClaim>): boolean {
  const version = metadata.annotations?.[annotations.nodePoolHashVersion];
  return version !== undefined && version !== hashVersion && !isTrue(status?.conditions, 'Drifted');
}
