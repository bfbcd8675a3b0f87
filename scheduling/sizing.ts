/** Which sizes of a pool can carry what is asked, and what is nearest when none can. */
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { beyond, lacking, type Amounts } from './amounts.ts';
import { misfit, suits, valuesOf } from './misfit.ts';
import type { Requirements } from './requirements.ts';
import type { Refusal } from './solver.ts';
import type { Size, Template } from './template.ts';

export type Miss = Pick<Refusal, 'reason' | 'message' | 'resource'>;

/** What one node must carry. */
export interface Load {
  readonly requirements: Requirements;
  readonly amounts: Amounts;
  /** Limits less everything but this node. */
  readonly budget: Amounts;
}

/**
 * Sizes for the load, cheapest first, or the first thing of which there is none: labels, resources, offerings, limits.
 */
export function sizesFor(
  template: Template,
  sizes: readonly Size[],
  load: Load,
): readonly Size[] | Miss {
  const suited = sizes.filter(({ type }) => suits(type, load.requirements));
  if (suited.length === 0) return noSuited(template, load.requirements);
  const large = suited.filter((size) => lacking(load.amounts, size.usable) === undefined);
  if (large.length === 0) return tooLarge(suited, load.amounts);
  const sold = large.filter((size) => priceOf(size, load.requirements) !== undefined);
  if (sold.length === 0) return noOffering(large);
  const affordable = sold.filter((size) => beyond(nodeOf(size), load.budget) === undefined);
  if (affordable.length === 0) return overLimit(template, sold, load.budget);
  const few = tooFew(affordable, load.requirements);
  return few ?? cheapestFirst(affordable, load.requirements);
}

/** What one node of a size takes of the limits. */
export function nodeOf({ capacity }: Size): Amounts {
  return new Map([...capacity, ['nodes', 1000n]]);
}

/** USD per hour where it is sold now, in an allowed zone; Infinity when nobody knows; undefined when it is not sold. */
function priceOf({ type }: Size, requirements: Requirements): number | undefined {
  const zones = requirements.get(labels.zone);
  const prices = type.offerings
    .filter(({ available, zone }) => available && (zones?.has(zone) ?? true))
    .map(({ price = Infinity }) => price);
  return prices.length === 0 ? undefined : Math.min(...prices);
}

/** Equal prices keep the catalog's order. */
function cheapestFirst(sizes: readonly Size[], requirements: Requirements): readonly Size[] {
  return sizes
    .map((size) => ({ size, price: priceOf(size, requirements) ?? Infinity }))
    .toSorted((a, b) => (a.price === b.price ? 0 : a.price - b.price))
    .map(({ size }) => size);
}

/** `minValues` of a requirement: so many different values must be left among the sizes. */
function tooFew(sizes: readonly Size[], requirements: Requirements): Miss | undefined {
  for (const [key, { minValues }] of requirements) {
    const values = new Set(sizes.flatMap(({ type }) => valuesOf(type, key)));
    if (minValues !== undefined && values.size < minValues) {
      const message = `its requirement on ${key} asks for ${minValues} different values, ${values.size} are left`;
      return { reason: 'Requirements', message };
    }
  }
  return undefined;
}

function noSuited({ sizes }: Template, requirements: Requirements): Miss {
  const types = sizes.map(({ type }) => type);
  const message =
    types.length === 0
      ? 'its node class has no instance type that can run machines'
      : misfit(types, requirements);
  return { reason: 'InstanceTypes', message };
}

function tooLarge(suited: readonly Size[], needed: Amounts): Miss {
  for (const [resource, amount] of needed) {
    const largest = suited.reduce((most, { usable }) => max(most, usable.get(resource) ?? 0n), 0n);
    if (amount <= largest) continue;
    const [needs, has] = [textOf(resource, amount), textOf(resource, largest)];
    return {
      reason: 'Resources',
      resource,
      message: `needs ${needs}, the largest machine has ${has} to give`,
    };
  }
  const message = 'no single machine has enough of everything at once';
  return { reason: 'Resources', message };
}

function noOffering(large: readonly Size[]): Miss {
  const names = large.slice(0, 3).map(({ type }) => type.name);
  const more = large.length > names.length ? ` and ${large.length - names.length} more` : '';
  return {
    reason: 'NoOfferings',
    message: `no capacity now for ${names.join(', ')}${more} in the allowed zones`,
  };
}

function overLimit({ name, inSight }: Template, sold: readonly Size[], budget: Amounts): Miss {
  const smallest = sold.reduce((a, b) => (lacking(a.capacity, b.capacity) ? b : a));
  const resource = beyond(nodeOf(smallest), budget) ?? 'nodes';
  const own: ResourceList = inSight.pool.spec.limits ?? {};
  const { amount: limit = own[resource] ?? '0', policy } =
    inSight.limits?.find((one) => one.resource === resource) ?? {};
  const owner = policy === undefined ? `NodePool ${name}` : `UnikraftQuotaPolicy ${policy}`;
  const asked = nodeOf(smallest).get(resource) ?? 0n;
  const left = budget.get(resource) ?? 0n;
  const message =
    `limit ${resource} ${limit} of ${owner} is reached: ` +
    `${textOf(resource, Quantity.parse(limit).toMilli() - left)} in use, one more machine takes ${textOf(resource, asked)}`;
  return { reason: 'Limit', resource, message };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const binary = new Set(['memory', 'ephemeral-storage']);

/** `64 vCPU`, `250Gi memory`, `3 nodes`. */
function textOf(resource: string, thousandths: bigint): string {
  const amount = Quantity.parse(`${thousandths}m`);
  const name = resource === 'cpu' ? 'vCPU' : resource;
  if (!binary.has(resource)) return `${amount.toString()} ${name}`;
  const mebibytes = amount.toInteger() / 1_048_576n;
  return `${Quantity.ofInteger(mebibytes * 1_048_576n, 'BinarySI').toString()} ${name}`;
}
