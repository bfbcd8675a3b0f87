/**
 * A plan on its way back, in pieces that take a thousandth of a second each to read. Machines that may be of the same
 * sizes say so once; sizes are named by their place in their pool's list, and are the provisioner's own objects again.
 */
import type { Plan, PlannedClaim, PoolInSight, Refusal } from '#scheduling/solver.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';

import type { Slices } from '../slices.ts';

interface Wording {
  readonly nodePool: string;
  readonly requirements: PlannedClaim['requirements'];
  /** Places in the pool's list. */
  readonly sizes: readonly number[];
}

interface ClaimText extends Pick<PlannedClaim, 'requests' | 'pods' | 'isMinValuesRelaxed'> {
  /** Place among all wordings, which come before the claims that use them. */
  readonly wording: number;
}

interface Piece {
  readonly wordings?: readonly Wording[];
  readonly claims?: readonly ClaimText[];
  readonly nominations?: readonly (readonly [pod: string, node: string])[];
  readonly refused?: readonly { readonly refusals: readonly Refusal[]; readonly pods: string[] }[];
  readonly zones?: readonly (readonly [zone: string, pods: number])[];
}

/** Entries of one piece. */
const most = 250;

/** @throws Error when a plan has a size that is in no pool's list */
export function* piecesOf(plan: Plan, pools: readonly PoolInSight[]): Iterable<string> {
  const { wordings, claims } = worded(plan, pools);
  const pieces: Iterable<Piece>[] = [
    cut(wordings, (some) => ({ wordings: some }), 25), // up to 60 sizes each
    cut(claims, (some) => ({ claims: some })),
    cut([...plan.nominations], (some) => ({ nominations: some }), 4 * most),
    cut(refusedIn(plan), (some) => ({ refused: some })),
    cut([...plan.zones], (some) => ({ zones: some })),
  ];
  for (const some of pieces) for (const piece of some) yield JSON.stringify(piece);
}

/** Puts the plan together again. */
export async function planOf(
  texts: readonly string[],
  pools: readonly PoolInSight[],
  slices: Slices,
): Promise<Plan> {
  const wordings: Pick<PlannedClaim, 'nodePool' | 'requirements' | 'instanceTypes'>[] = [];
  const claims: PlannedClaim[] = [];
  const nominations = new Map<string, string>();
  const unschedulable = new Map<string, readonly Refusal[]>();
  const zones = new Map<string, number>();
  const sizes = new Map(
    pools.map(({ pool, instanceTypes }) => [pool.metadata?.name, instanceTypes]),
  );
  await slices.each(texts, (text) => {
    const piece = JSON.parse(text) as Piece;
    for (const { nodePool, requirements, sizes: places } of piece.wordings ?? []) {
      const instanceTypes = places.map((place) => sizes.get(nodePool)![place]!);
      wordings.push({ nodePool, requirements, instanceTypes });
    }
    for (const { wording, ...claim } of piece.claims ?? [])
      claims.push({ ...wordings[wording]!, ...claim });
    fill(nominations, piece.nominations);
    for (const { refusals, pods } of piece.refused ?? [])
      for (const pod of pods) unschedulable.set(pod, refusals);
    fill(zones, piece.zones);
  });
  return { claims, nominations, unschedulable, zones };
}

function fill<V>(map: Map<string, V>, entries: readonly (readonly [string, V])[] = []): void {
  for (const [key, value] of entries) map.set(key, value);
}

function worded(
  plan: Plan,
  pools: readonly PoolInSight[],
): { readonly wordings: readonly Wording[]; readonly claims: readonly ClaimText[] } {
  const places = new Places(pools);
  const wordings: Wording[] = [];
  const known = new Map<PlannedClaim['requirements'], number>();
  const claims = plan.claims.map(({ nodePool, requirements, instanceTypes, ...claim }) => {
    const wording = known.get(requirements) ?? wordings.length;
    known.set(requirements, wording);
    if (wording === wordings.length)
      wordings.push({ nodePool, requirements, sizes: places.of(nodePool, instanceTypes) });
    return { wording, ...claim };
  });
  return { wordings, claims };
}

/** Where sizes stand in the list of their pool. */
class Places {
  readonly #byPool: ReadonlyMap<string, ReadonlyMap<InstanceType, number>>;

  constructor(pools: readonly PoolInSight[]) {
    this.#byPool = new Map(
      pools.map(({ pool, instanceTypes }) => [
        pool.metadata?.name ?? '',
        new Map(instanceTypes.map((type, index) => [type, index])),
      ]),
    );
  }

  of(pool: string, types: readonly InstanceType[]): number[] {
    return types.map((type) => {
      const place = this.#byPool.get(pool)?.get(type);
      if (place === undefined) throw new Error(`size ${type.name} is not in the list of ${pool}`);
      return place;
    });
  }
}

/** Pods of one group are refused alike, by the same list of reasons. */
function refusedIn({ unschedulable }: Plan): NonNullable<Piece['refused']> {
  const byReasons = Map.groupBy(unschedulable, ([, refusals]) => refusals);
  return [...byReasons].flatMap(([refusals, entries]) =>
    [...cut(entries, (some) => some)].map((some) => ({ refusals, pods: some.map(([pod]) => pod) })),
  );
}

function* cut<T, R>(
  items: readonly T[],
  make: (some: readonly T[]) => R,
  size: number = most,
): Iterable<R> {
  for (let from = 0; from < items.length; from += size) yield make(items.slice(from, from + size));
}
