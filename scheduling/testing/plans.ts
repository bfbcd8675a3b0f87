/** What a test reads off a plan. */
import { labels } from '#schemas/names.ts';

import { solve } from '../solve.ts';
import type { Plan, PlannedClaim, Problem, Refusal } from '../solver.ts';
import { node, pool, problem, size } from './build.ts';
import { unbound } from './judge.ts';

/** Three zones, all sizes in each. */
export const zoned = [2, 4, 8].map((vcpus) => size(vcpus, { zones: ['1a', '1b', '1c'] }));

/** Solves with a pool in three zones and all Pods known, and lets the judge look at the plan. */
export function planned(parts: Partial<Problem>): Plan {
  const given = problem({ pools: [pool('web', { sizes: zoned })], bound: [], ...parts });
  const plan = solve(given);
  const wrong = unbound(given, plan);
  if (wrong.length > 0) throw new Error(`kube-scheduler would not bind ${wrong.join(', ')}`);
  return plan;
}

/** Pods of each claim, without their namespace, in order. */
export const groups = ({ claims }: Plan): string[][] =>
  claims.map(({ pods }) => pods.map(short).toSorted());

/** Names of the cheapest size of each claim. */
export const cheapest = (parts: Partial<Problem>): (string | undefined)[] =>
  planned(parts).claims.map(({ instanceTypes }) => instanceTypes[0]?.name);

/** How many Pods of claims each zone gets; `any` where it is open. */
export function perZone({ claims }: Plan): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const claim of claims) {
    const zone = zoneOf(claim);
    counts[zone] = (counts[zone] ?? 0) + claim.pods.length;
  }
  return counts;
}

export function zoneOf({ requirements }: PlannedClaim): string {
  const { values = [] } = requirements.find(({ key }) => key === labels.zone) ?? {};
  return values.length === 1 ? (values[0] ?? '') : 'any';
}

export const nominated = ({ nominations }: Plan): Record<string, string> =>
  Object.fromEntries([...nominations].map(([key, name]) => [short(key), name]));

export const refused = ({ unschedulable }: Plan): string[] =>
  [...unschedulable.keys()].map(short).toSorted();

export const refusalsOf = ({ unschedulable }: Plan, name: string): readonly Refusal[] =>
  unschedulable.get(`shop/${name}`) ?? [];

const short = (key: string): string => key.slice(key.indexOf('/') + 1);

/** A node with room for many Pods, in a zone. */
export const nodeIn = (zone: string, name = `node-${zone}`, cpu = '8') =>
  node(name, { cpu, memory: '64Gi' }, { labels: { [labels.zone]: zone } });

/** A node without any room. */
export const fullIn = (zone: string, name: string) => ({
  ...nodeIn(zone, name),
  allocatable: { cpu: '0' },
});
