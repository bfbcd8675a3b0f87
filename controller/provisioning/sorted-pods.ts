import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import { isGivenUp, isProvisionable, isTerminal } from './provisionable.ts';
import type { Slices } from './slices.ts';

export interface SortedPods {
  /** Those that are on a Node and not over, by its name. */
  readonly placed: ReadonlyMap<string, readonly Live<Pod>[]>;
  /** Those that kube-scheduler gave up, and that a machine of ours could help. */
  readonly waiting: readonly Live<Pod>[];
  /** How many it gave up that are not ours to help. */
  readonly ignored: number;
}

/** What is to be done with each Pod of the cache. Nominations are not looked at. */
export async function sortPods(pods: readonly Live<Pod>[], slices: Slices): Promise<SortedPods> {
  const placed = new Map<string, Live<Pod>[]>();
  const waiting: Live<Pod>[] = [];
  let ignored = 0;
  await slices.each(pods, (pod) => {
    const { nodeName } = pod.spec ?? {};
    if (nodeName) {
      if (!isTerminal(pod)) add(placed, nodeName, pod);
    } else if (isProvisionable(pod, () => false)) waiting.push(pod);
    else if (isGivenUp(pod)) ignored += 1;
  });
  return { placed, waiting, ignored };
}

function add(placed: Map<string, Live<Pod>[]>, nodeName: string, pod: Live<Pod>): void {
  const known = placed.get(nodeName);
  if (known) known.push(pod);
  else placed.set(nodeName, [pod]);
}
