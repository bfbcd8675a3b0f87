/** Why a pool makes no machine for a Pod, with the nearest miss. */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

import type { LabelState } from './machines/label-state.ts';
import type { Size } from './machines/size.ts';
import { misfit } from './machines/suiting.ts';
import type { Template } from './machines/template.ts';
import { MinValues } from './places/min-values.ts';
import { driverMiss } from './pods/drivers.ts';
import { takenPort } from './pods/host-ports.ts';
import { unbearable, type Variant } from './pods/variant.ts';
import { refusalText } from './refusing.ts';
import { isBinary, Slots, unitText, type Amounts } from './slots.ts';
import type { Refusal } from './solver.ts';
import { taintText } from './taints.ts';

export type Miss = Omit<Refusal, 'pool'>;

/** Of several kinds of node that a Pod accepts, the one that came furthest tells why. */
export function whyNot(
  template: Template,
  variants: readonly Variant[],
  needs: Amounts,
  slots: Slots,
): Miss {
  const misses = variants.map((variant) => missOf(template, { variant, needs, slots }));
  return misses.reduce<Miss | undefined>(further, undefined) ?? noAlternative;
}

const noAlternative: Miss = {
  reason: 'Requirements',
  message: 'has no node affinity term that a new node could satisfy',
};

/** In the order in which a pool is asked. */
const order: readonly Refusal['reason'][] = [
  'Taints',
  'Restricted',
  'Unsupported',
  'Requirements',
  'InstanceTypes',
  'Resources',
  'NoOfferings',
  'Topology',
  'Limit',
];

function further(best: Miss | undefined, miss: Miss): Miss {
  const isFurther = !best || order.indexOf(miss.reason) >= order.indexOf(best.reason);
  return isFurther ? miss : best;
}

interface Want {
  readonly variant: Variant;
  readonly needs: Amounts;
  readonly slots: Slots;
}

function missOf(template: Template, want: Want): Miss {
  const { variant } = want;
  const { asked } = variant;
  const impossible =
    contradiction(template) ??
    taintMiss(template, variant) ??
    driverMiss(variant.drivers, template.inSight);
  if (impossible) return impossible;
  if (asked.restricted !== undefined)
    return {
      reason: 'Restricted',
      message: `selects ${asked.restricted}, which no new node can be made for`,
    };
  const state = template.start.narrow(asked);
  if (typeof state === 'string')
    return {
      reason: 'Requirements',
      message: refusalText(state, asked.ofNew, template.start.requirements),
    };
  return sizeMiss(template, state, want);
}

function sizeMiss(template: Template, state: LabelState, want: Want): Miss {
  const { suited, requirements } = state;
  if (suited.length === 0) return noSuited(template, state);
  const large = suited.filter((size) => carries(size, want));
  if (large.length === 0) return tooLarge(suited, want);
  const onSale = new Set(state.sold.map(({ size }) => size));
  const sold = large.filter((size) => onSale.has(size));
  if (sold.length === 0) return noOffering(large);
  const affordable = sold.filter((size) => beyond(template, size) === undefined);
  if (affordable.length === 0) return overLimit(template, sold);
  const [few] = new MinValues(false).missed(requirements, () => affordable);
  if (few) return tooFew(few, state);
  return { reason: 'Topology', message: ruleText(want.variant) };
}

function carries({ usable, ports }: Size, { needs, variant }: Want): boolean {
  return lacking(needs, usable) < 0 && !takenPort(variant.ports, ports);
}

/** The first slot of which there is too little; what is not needed may be lacking. */
function lacking(needs: Amounts, there: Amounts): number {
  return needs.findIndex((need, slot) => need > 0 && need > there[slot]!);
}

function contradiction({ contradiction: key, fixed }: Template): Miss | undefined {
  if (key === undefined) return undefined;
  const message = `its own requirements exclude ${key}=${fixed[key]}, which all of its nodes have`;
  return { reason: 'Requirements', message };
}

function taintMiss({ taints }: Template, variant: Variant): Miss | undefined {
  const taint = unbearable(variant, taints);
  return taint && { reason: 'Taints', message: `does not tolerate the taint ${taintText(taint)}` };
}

function noSuited({ sizes }: Template, { requirements }: LabelState): Miss {
  const types = sizes.map(({ type }) => type);
  const message =
    types.length === 0
      ? 'its node class has no instance type that can run machines'
      : misfit(types, requirements);
  return { reason: 'InstanceTypes', message };
}

function tooLarge(suited: readonly Size[], { needs, variant, slots }: Want): Miss {
  for (const [slot, resource] of slots.names.entries()) {
    const need = needs[slot]!;
    const largest = suited.reduce((most, { usable }) => Math.max(most, usable[slot]!), 0);
    if (need <= largest) continue;
    const [wants, has] = [textOf(resource, need), textOf(resource, largest)];
    return {
      reason: 'Resources',
      resource,
      message: `needs ${wants}, the largest machine has ${has} to give`,
    };
  }
  const taken = suited.flatMap((size) => takenPort(variant.ports, size.ports) ?? []);
  const message =
    taken[0] === undefined
      ? 'no single machine has enough of everything at once'
      : `needs the host port ${taken[0].port}, which a DaemonSet takes on each machine that is large enough`;
  return { reason: 'Resources', message };
}

function noOffering(large: readonly Size[]): Miss {
  return {
    reason: 'NoOfferings',
    message: `no capacity now for ${someNames(large.map(({ type }) => type))} in the allowed zones`,
  };
}

function someNames(types: readonly InstanceType[]): string {
  const names = types.slice(0, 3).map(({ name }) => name);
  const more = types.length > names.length ? ` and ${types.length - names.length} more` : '';
  return names.join(', ') + more;
}

/** The first limit that one more machine of the size would pass. */
function beyond({ limited, remaining }: Template, { takes }: Size): string | undefined {
  const slot = takes.findIndex((amount, index) => amount > remaining[index]!);
  return limited.names[slot];
}

function overLimit(template: Template, sold: readonly Size[]): Miss {
  const { name, inSight, limited, remaining } = template;
  const smallest = sold.reduce((a, b) => (lacking(a.takes, b.takes) < 0 ? a : b));
  const resource = beyond(template, smallest) ?? 'nodes';
  const slot = limited.names.indexOf(resource);
  const own: ResourceList = inSight.pool.spec.limits ?? {};
  const { amount: limit = own[resource] ?? '0', policy } =
    inSight.limits?.find((one) => one.resource === resource) ?? {};
  const owner = policy === undefined ? `NodePool ${name}` : `UnikraftQuotaPolicy ${policy}`;
  const used = limited.has({ [resource]: limit })[slot]! - remaining[slot]!;
  const message =
    `limit ${resource} ${limit} of ${owner} is reached: ${textOf(resource, used)} in use, ` +
    `one more machine takes ${textOf(resource, smallest.takes[slot]!)}`;
  return { reason: 'Limit', resource, message };
}

function tooFew([key, count]: readonly [string, number], { requirements }: LabelState): Miss {
  const asked = requirements.get(key)?.minValues;
  const message = `its requirement on ${key} asks for ${asked} different values, ${count} are left`;
  return { reason: 'Requirements', message };
}

const ruleNames = {
  spread: 'topology spread',
  affinity: 'pod affinity',
  anti: 'pod anti-affinity',
  guard: 'being counted in a topology spread',
  join: 'being sought by a pod affinity',
};

function ruleText({ choices, hostRules }: Variant): string {
  const keys = choices.filter(({ isBinding }) => isBinding);
  const [first] = keys.flatMap(({ rules, domains }) =>
    rules.map((rule) => [rule, domains] as const),
  );
  const [host] = hostRules;
  const rule = first?.[0] ?? host;
  if (!rule) return 'rules of other Pods keep it from every new node';
  const { key } = rule.counter.domains;
  return `its ${ruleNames[rule.kind]} over ${key} leaves it no place on a new node`;
}

/** `64 vCPU`, `250Gi memory`, `3 nodes`. Whole mebibytes say enough. */
function textOf(resource: string, amount: number): string {
  const name = resource === 'cpu' ? 'vCPU' : resource;
  const shown = isBinary(resource) ? Math.floor(amount / 1_048_576) * 1_048_576 : amount;
  return `${unitText(resource, shown)} ${name}`;
}
