import type { KubeClient } from '#kube/client/client.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Found } from './place.ts';

/** What the claims that there are account for. */
export class Claimed {
  readonly #uids: ReadonlySet<string>;
  readonly #providerIDs: ReadonlySet<string>;

  constructor(claims: readonly Live<NodeClaim>[]) {
    this.#uids = new Set(claims.map(({ metadata }) => metadata.uid));
    this.#providerIDs = new Set(claims.flatMap(({ status }) => status?.providerID ?? []));
  }

  /**
   * Every claim of the cluster, of whatever provider and whether or not it is leaving, as the API server has it at this
   * moment: a cache may be late.
   *
   * @throws ApiError, ConnectionError when the API server cannot be read to the last page
   */
  static async now(client: KubeClient, signal: AbortSignal): Promise<Claimed> {
    return new Claimed((await client.list(nodeClaims, { signal })).items);
  }

  /** Something that does not say what it was made for counts as claimed: nobody can tell. */
  has({ claimUid, providerID }: Found): boolean {
    if (claimUid === '' || this.#uids.has(claimUid)) return true;
    return providerID !== undefined && this.#providerIDs.has(providerID);
  }
}
