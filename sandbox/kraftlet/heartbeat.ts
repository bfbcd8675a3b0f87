import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import type { Lease } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { leases } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { type KraftletNode, kraftletNodes, nodeOf, type PlatformFacts, statusOf } from './node.ts';
import type { PlatformClient } from './platform-client.ts';
import type { KraftletSettings } from './settings.ts';
import type { WantedMemory } from './wanted-memory.ts';

/** A Node that is there, and what its platform had when it joined. */
export interface Joined {
  readonly node: Live<KraftletNode>;
  readonly quotas: PlatformFacts['quotas'];
}

/**
 * Makes the Node and keeps it alive. It may create and read its Node and write its status, no more: a Node that
 * somebody deletes while Kraftlet runs stays away until Kraftlet starts anew.
 */
export class Heartbeat {
  readonly #client: KubeClient;
  readonly #platform: PlatformClient;
  readonly #settings: KraftletSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #wanted: WantedMemory;

  constructor(options: {
    client: KubeClient;
    platform: PlatformClient;
    settings: KraftletSettings;
    clock: Clock;
    log: Logger;
    wanted: WantedMemory;
  }) {
    this.#client = options.client;
    this.#platform = options.platform;
    this.#settings = options.settings;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#wanted = options.wanted;
  }

  /** The Node, made if there is none. Throws while the platform shows no quotas: there is nothing to advertise. */
  async join(): Promise<Joined> {
    const quotas = await this.#platform.quotas();
    const facts = { reachable: true, healthy: await this.#platform.isHealthy(), quotas };
    const present = await this.#existing();
    if (present) return { node: present, quotas };
    this.#log.info({ node: this.#settings.nodeName }, 'creating the Node');
    const node = nodeOf(this.#settings, facts, this.#clock.stamp());
    return { node: await this.#client.create(kraftletNodes, node), quotas };
  }

  async #existing(): Promise<Live<KraftletNode> | undefined> {
    try {
      return await this.#client.get(kraftletNodes, { name: this.#settings.nodeName });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** What is known of the platform now; an unreachable one keeps the quotas that it had. */
  async look(last: PlatformFacts['quotas']): Promise<PlatformFacts> {
    try {
      const healthy = await this.#platform.isHealthy();
      return { reachable: true, healthy, quotas: await this.#platform.quotas() };
    } catch (error) {
      this.#log.warn({ err: error }, 'the platform does not answer');
      return { reachable: false, healthy: false, quotas: last };
    }
  }

  async report(facts: PlatformFacts): Promise<void> {
    const { nodeName } = this.#settings;
    const node = await this.#client.get(kraftletNodes, { name: nodeName });
    const before = node.status.conditions ?? [];
    const seen = this.#wanted.in(facts);
    const status = statusOf(this.#settings, seen, this.#clock.stamp(), before);
    const patch = { type: 'strategic', body: { status } } as const;
    await this.#client.patch(kraftletNodes, { name: nodeName }, patch, { subresource: 'status' });
  }

  /** The Lease by which kube-controller-manager knows that the Node lives. */
  async renew(node: Live<KraftletNode>): Promise<void> {
    const { name, uid } = node.metadata;
    const key = { namespace: 'kube-node-lease', name };
    const renewTime = microTime(this.#clock);
    try {
      const lease = await this.#client.get(leases, key);
      await this.#client.replace(leases, { ...lease, spec: { ...lease.spec, renewTime } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...key, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
        spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
      };
      await this.#client.create(leases, lease);
    }
  }
}

/** `metav1.MicroTime`, which the API demands in a Lease. */
const microTime = (clock: Clock): string => clock.stamp().replace(/Z$/, '.000000Z');
