/**
 * What holds where several policies meet: of each resource the smallest, whoever says it. Pure.
 *
 * Deny and Cap hold; Warn and Audit only tell. docs/adr/0008-ceilings.md gives the reasons.
 */
import type { PlatformQuotas } from '../instances/instance-type.ts';
import type { ResourceList } from '../kubernetes/meta.ts';
import { Quantity } from '../quantity/quantity.ts';
import { selects, type Membership } from './selector.ts';
import type { MachineCeilings, SumCeilings, UnikraftQuotaPolicy } from './types.ts';

/** The most of one resource that machines may have together. */
export interface Limit {
  readonly resource: string;
  /** Canonical quantity. */
  readonly amount: string;
  /** Name of the UnikraftQuotaPolicy that says so; absent: the NodePool itself. */
  readonly policy?: string;
}

/** The most that one machine may offer, in the units of its platform's quotas. */
export type MachineCap = Partial<PlatformQuotas>;

/** Whether a policy holds something back, rather than only telling. */
export function isEnforced({ spec: { enforcement } }: UnikraftQuotaPolicy): boolean {
  return enforcement === 'Deny' || enforcement === 'Cap';
}

/**
 * The limits of one NodePool: its own, and the ceilings for NodePools of every policy that is enforced and means it.
 * One for each resource, the smallest; of equal ones the pool's own, then the policy that comes first by name.
 *
 * @param own  `spec.limits` of the pool
 * @throws InvalidQuantity when a limit of the pool's own is none
 */
export function limitsOf(
  own: Readonly<ResourceList> | undefined,
  policies: readonly UnikraftQuotaPolicy[],
  of: Membership,
): Limit[] {
  const said = policies
    .filter((policy) => isEnforced(policy) && selects(policy, of))
    .flatMap((policy) => limitsIn(policy.spec.ceilings.perNodePool, policy));
  return smallest([...limitsIn(own, undefined), ...said]);
}

/** The ceilings that a policy says for one of its sums. */
export function limitsIn(
  amounts: SumCeilings | Readonly<ResourceList> | undefined,
  policy: UnikraftQuotaPolicy | undefined,
): Limit[] {
  const by = policy?.metadata?.name;
  return Object.entries(amounts ?? {}).map(([resource, amount]: [string, string | number]) => ({
    resource,
    amount: Quantity.parse(amount).toString(),
    ...(by !== undefined && { policy: by }),
  }));
}

/** The most that a machine of this pool and node class may offer, over every policy that is enforced and means it. */
export function machineCapOf(policies: readonly UnikraftQuotaPolicy[], of: Membership): MachineCap {
  return policies
    .filter((policy) => isEnforced(policy) && selects(policy, of))
    .map(({ spec }) => capIn(spec.ceilings.perMachine))
    .reduce(smallerCap, {});
}

/** Of each quota the smaller one. */
export function smallerCap<Q extends MachineCap>(a: Q, b: MachineCap): Q {
  const least = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined || y === undefined ? (x ?? y) : Math.min(x, y);
  const entries = quotaNames.map((name) => [name, least(a[name], b[name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Q;
}

/** The quotas of a machine under a cap; undefined when too little is left for any machine. */
export function capped(quotas: PlatformQuotas, cap: MachineCap): PlatformQuotas | undefined {
  const under = smallerCap(quotas, cap);
  return under.vcpus < 1 || under.memoryMiB < 1 ? undefined : under;
}

/** A Node's capacity under a cap, spelled as {@link capacityOf} spells it; undefined when too little is left. */
export function cappedCapacity(
  capacity: Readonly<ResourceList>,
  { vcpus, memoryMiB, volumeStorageMiB, instances }: MachineCap,
): ResourceList | undefined {
  if (memoryMiB !== undefined && memoryMiB < 1) return undefined;
  const most: Record<string, string | undefined> = {
    cpu: vcpus?.toString(),
    memory: inMiB(memoryMiB),
    'ephemeral-storage': inMiB(volumeStorageMiB),
    pods: instances?.toString(),
  };
  return Object.fromEntries(
    Object.entries(capacity).map(([name, text]) => [name, lesser(text, most[name])]),
  );
}

const quotaNames = ['vcpus', 'memoryMiB', 'volumeStorageMiB', 'instances'] as const;
const BYTES_PER_MIB = 1_048_576n;

function capIn({ vcpus, memory, volumeStorage, instances }: MachineCeilings = {}): MachineCap {
  return {
    ...(vcpus !== undefined && { vcpus }),
    ...(memory !== undefined && { memoryMiB: wholeMiB(memory) }),
    ...(volumeStorage !== undefined && { volumeStorageMiB: wholeMiB(volumeStorage) }),
    ...(instances !== undefined && { instances }),
  };
}

/** Rounded down, so that no ceiling is exceeded by rounding; toInteger rounds up, which matters below one byte only. */
function wholeMiB(text: string): number {
  return Number(Quantity.parse(text).toInteger() / BYTES_PER_MIB);
}

function inMiB(mebibytes: number | undefined): string | undefined {
  return mebibytes === undefined ? undefined : `${mebibytes}Mi`;
}

function lesser(text: string, most: string | undefined): string {
  if (most === undefined) return text;
  return Quantity.parse(text).compareTo(Quantity.parse(most)) <= 0 ? text : most;
}

/** One for each resource, in the order in which resources first came. */
function smallest(limits: readonly Limit[]): Limit[] {
  const found = new Map<string, Limit>();
  for (const limit of limits) {
    const known = found.get(limit.resource);
    if (!known || isSmaller(limit, known)) found.set(limit.resource, limit);
  }
  return [...found.values()];
}

function isSmaller(a: Limit, b: Limit): boolean {
  const order = Quantity.parse(a.amount).compareTo(Quantity.parse(b.amount));
  return order === 0 ? (a.policy ?? '') < (b.policy ?? '') : order < 0;
}
