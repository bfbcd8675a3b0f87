import { isNotFound } from '#kube/client/errors.ts';
import { isTrue } from '#kube/conditions.ts';
import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { tellClaim } from '#test/world/telling.ts';

import type { CrashWorld } from './crash-world.ts';
import { type Cloud, closedPool, podOf, poolOf } from './objects.ts';

/** The machines of a variant as the cluster shows them, each by the name of its pool. */
export class Machines {
  readonly #world: CrashWorld;
  readonly #cloud: Cloud;
  /** Pools that were made, each for one machine. */
  made = 0;
  #claims = new Map<string, Live<NodeClaim>[]>();
  #pods = new Map<string, Live<Pod>>();

  constructor(world: CrashWorld, cloud: Cloud) {
    this.#world = world;
    this.#cloud = cloud;
  }

  /** A Pod that has nowhere to run, and a pool that may make it a machine. */
  async begin(name: string): Promise<void> {
    this.made += 1;
    await this.#world.apply(poolOf(name, this.#cloud), podOf(name));
  }

  /** As a person who deletes the machine's claim. */
  async remove(name: string): Promise<void> {
    const { client } = this.#world;
    await this.#world.apply(closedPool(name, this.#cloud));
    for (const { metadata } of this.#claims.get(name) ?? [])
      await client.delete(nodeClaims, { name: metadata.name });
  }

  /** Takes away what is left of a case: its pool and, should it be there still, its Pod. */
  async forget(name: string): Promise<void> {
    const { client } = this.#world;
    await client.delete(nodePools, { name }).catch(ignoreGone);
    await client.delete(pods, { namespace: 'default', name: `${name}-pod` }).catch(ignoreGone);
  }

  /** Reads what the cluster shows now. */
  async look(): Promise<void> {
    const { client } = this.#world;
    const [claims, all] = await Promise.all([client.list(nodeClaims), client.list(pods)]);
    this.#claims = Map.groupBy(claims.items, ({ metadata }) => poolOfClaim(metadata.labels));
    this.#pods = new Map(all.items.map((pod) => [pod.metadata.name, pod]));
  }

  /** Its Pod runs on it. */
  isUp(name: string): boolean {
    const [claim] = this.#claims.get(name) ?? [];
    const pod = this.#pods.get(`${name}-pod`);
    const isReady = isTrue(claim?.status?.conditions, 'Ready');
    return isReady && pod?.status?.phase === 'Running' && pod.spec?.nodeName !== undefined;
  }

  isGone(name: string): boolean {
    return !this.#claims.has(name);
  }

  /** For people. */
  picture(name: string): string {
    const { phase = 'absent' } = this.#pods.get(`${name}-pod`)?.status ?? {};
    return [`Pod ${phase}`, ...(this.#claims.get(name) ?? []).map(tellClaim)].join('\n');
  }
}

function poolOfClaim(own: Readonly<Record<string, string>> | undefined): string {
  return own?.[labels.nodePool] ?? '';
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
