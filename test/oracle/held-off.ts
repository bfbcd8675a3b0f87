/**
 * Why a Pod was not bound to the Node that it was nominated for, when its turn came.
 *
 * kube-scheduler tries Pods one after the other, in an order that nobody plans. One that spreads, or that seeks others,
 * may come before those that it needs, or before others that are nominated for the same Node, which count as if they were
 * there: then its Node does not do yet, and kube-scheduler takes any other that does.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/schedule_one.go, findNodesThatFitPod.
 */
import type { Problem } from '#scheduling/solver.ts';
import { unbound } from '#scheduling/testing/judge.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

import { spaces, type Labels } from './cases/terms.ts';
import { keyOf } from './cluster/cluster.ts';

/**
 * @param problem  how things stood: Pods that had been bound, and the one whose turn it was
 * @returns what kept it off its Node, in the plain words of the judge beside the solver; undefined if nothing did
 */
export function heldOff(problem: Problem, pod: Pod, node: string): string | undefined {
  const { bound = [] } = problem;
  const told = {
    ...problem,
    pods: [inWords(pod)],
    bound: bound.map((one) => ({ ...one, pod: inWords(one.pod) })),
  };
  const nominations = new Map([[keyOf(pod), node]]);
  const plan = { claims: [], nominations, unschedulable: new Map(), zones: new Map() };
  return unbound(told, plan)[0];
}

/** The judge knows namespaces by name only. */
function inWords(pod: Pod): Pod {
  return JSON.parse(JSON.stringify(pod), (_, value: unknown) =>
    isTerm(value) ? byName(value) : value,
  ) as Pod;
}

interface Term {
  readonly namespaceSelector: { readonly matchLabels?: Labels };
  readonly namespaces?: readonly string[];
}

function isTerm(value: unknown): value is Term {
  return typeof value === 'object' && value !== null && 'namespaceSelector' in value;
}

function byName({ namespaceSelector, ...term }: Term): object {
  const wanted = Object.entries(namespaceSelector.matchLabels ?? {});
  const selected = [...spaces]
    .filter(([, labels]) => wanted.every(([key, value]) => labels[key] === value))
    .map(([name]) => name);
  return { ...term, namespaces: [...(term.namespaces ?? []), ...selected] };
}
