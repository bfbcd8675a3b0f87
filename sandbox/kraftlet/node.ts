/**
 * The Node that Kraftlet makes and keeps telling about. Pure.
 * Labels, taint, conditions, capacity: Unikraft's Kubernetes integration page.
 */
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Condition, ResourceList } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import type { PlatformQuotas } from './platform-client.ts';
import type { KraftletSettings } from './settings.ts';

/** What a look at the platform gave. */
export interface PlatformFacts {
  /** It answered. */
  readonly reachable: boolean;
  /** All its checks are healthy. */
  readonly healthy: boolean;
  /** As last seen. */
  readonly quotas: PlatformQuotas;
  /** Live memory in MiB that a Pod was refused for the want of, until there is as much. */
  readonly wantedMiB?: number | undefined;
}

export interface NodeCondition extends Condition {
  lastHeartbeatTime: string;
}

export interface NodeStatus {
  capacity: ResourceList;
  allocatable: ResourceList;
  conditions: NodeCondition[];
  addresses: { type: string; address: string }[];
  nodeInfo: Record<string, string>;
}

/** A Node with all of its status: `nodes` with the types that only Kraftlet writes. */
export interface KraftletNode extends Omit<Node, 'status'> {
  status: NodeStatus;
}

export const kraftletNodes = resource<KraftletNode>('v1', 'Node', 'nodes', 'Cluster');

/** @param now  RFC 3339 */
export function nodeOf(
  settings: KraftletSettings,
  facts: PlatformFacts,
  now: string,
): KraftletNode {
  const { nodeName, architecture, providerID, taint } = settings;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: {
        [labels.hostname]: nodeName,
        [labels.nodeRole]: 'agent',
        [labels.os]: 'linux',
        [labels.arch]: architecture,
        [labels.nodeType]: 'kubelet',
        [labels.virtualKubelet]: 'true',
        ...settings.labels,
      },
    },
    spec: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(taint === undefined ? {} : { taints: [taint] }),
    },
    status: statusOf(settings, facts, now, []),
  };
}

/** @param before  conditions as they were, so that a transition time moves only with its status */
export function statusOf(
  settings: KraftletSettings,
  facts: PlatformFacts,
  now: string,
  before: readonly Condition[],
): NodeStatus {
  const { nodeName, internalIP, architecture } = settings;
  const capacity = capacityOf(facts.quotas, settings.advertisedPercent);
  return {
    capacity,
    allocatable: capacity,
    conditions: conditionsOf(facts, settings).map((condition) => {
      const old = before.find(({ type }) => type === condition.type);
      const same = old?.status === condition.status ? old.lastTransitionTime : undefined;
      return { ...condition, lastHeartbeatTime: now, lastTransitionTime: same ?? now };
    }),
    addresses: [
      { type: 'Hostname', address: nodeName },
      ...(internalIP === undefined ? [] : [{ type: 'InternalIP', address: internalIP }]),
    ],
    nodeInfo: { architecture, operatingSystem: 'linux', kubeletVersion: 'v0.6.0' },
  };
}

/**
 * The quotas are the capacity, whatever the machine has; `_mb` is MiB.
 *
 * @param percent  of the memory; 100 as far as anybody knows of the real one
 */
function capacityOf({ hard }: PlatformQuotas, percent: number): ResourceList {
  return {
    cpu: String(hard.live_vcpus),
    memory: `${Math.floor((hard.live_memory_mb * percent) / 100)}Mi`,
    pods: String(hard.instances),
  };
}

/**
 * Whether live memory is used up: to the last MiB, or so far that a Pod was refused and still would be. A Pod that is
 * larger than the quota says nothing of what is used.
 *
 * Assumed; the vendor's page says that the next look after a refusal sets MemoryPressure, and not what takes it away.
 */
export function isMemoryShort({ quotas: { hard, used }, wantedMiB = 0 }: PlatformFacts): boolean {
  const left = hard.live_memory_mb - used.live_memory_mb;
  return left <= 0 || (wantedMiB <= hard.live_memory_mb && wantedMiB > left);
}

function conditionsOf(facts: PlatformFacts, settings: KraftletSettings): Condition[] {
  const { hard, used } = facts.quotas;
  const judged = (type: string, holds: boolean, yes: string, no: string): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? yes : no,
  });
  const full = (type: string, what: 'total_volume_mb' | 'instances'): Condition =>
    judged(type, used[what] >= hard[what], 'QuotaUsedUp', 'QuotaLeft');
  const health = judged(
    'UnikraftPlatformHealthy',
    facts.reachable && facts.healthy,
    'PlatformHealthy',
    'PlatformDegraded',
  );
  return [
    judged('Ready', facts.reachable, 'KraftletReady', 'PlatformUnreachable'),
    judged('MemoryPressure', isMemoryShort(facts), 'QuotaUsedUp', 'QuotaLeft'),
    hard.total_volume_mb === 0
      ? { type: 'DiskPressure', status: 'False', reason: 'NoVolumes' }
      : full('DiskPressure', 'total_volume_mb'),
    full('PIDPressure', 'instances'),
    ...(settings.platformHealthCondition ? [health] : []),
  ];
}
