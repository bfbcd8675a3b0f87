import type { DaemonSet, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { addResources } from '#schemas/quantity/resources.ts';

import { landing } from '../daemon-overhead.ts';
import { hostPortsOf, type HostPort } from '../pods/host-ports.ts';
import type { Requirements } from '../requirements.ts';

/** What the Pods of DaemonSets will take of a node. */
export interface Daemons {
  readonly requests: ResourceList;
  readonly ports: readonly HostPort[];
}

export const noDaemons: Daemons = { requests: {}, ports: [] };

/** @param capacity of the empty node: a Pod that asks for more of anything is never placed there */
export function daemonsOf(
  daemonSets: readonly DaemonSet[],
  node: Requirements,
  taints: readonly Taint[],
  capacity: Readonly<ResourceList>,
): Daemons {
  const there = landing(daemonSets, node, taints, capacity);
  return {
    requests: addResources(...there.map(({ requests }) => requests)),
    ports: there.flatMap(({ spec }) => hostPortsOf(spec)),
  };
}
