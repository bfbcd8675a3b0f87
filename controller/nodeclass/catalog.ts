import type { SizeOnSale } from '#machine/cloud/provider.ts';
import { capacityOf, quotasFor } from '#schemas/instances/capacity.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';

import type { Catalog, Offer } from '../catalog.ts';
import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { corrected, correctionsOf, type Corrections } from './corrections.ts';
import { Revisions, type Revision } from './revisions.ts';

interface Made {
  /** What it was made from: as it was given, and as text. */
  readonly sizes: readonly SizeOnSale[];
  readonly rest: string;
  readonly basis: string;
  readonly instanceTypes: readonly InstanceType[];
}

/**
 * What could be launched from each node class now. It may be asked in every pass of the scheduler: clouds remember
 * their lists themselves, and the same answer is given again, the very same array, until something in it changes.
 */
export class CloudCatalog implements Catalog {
  readonly #context: Pick<Context, 'caches'>;
  readonly #revisions: Revisions;
  readonly #clouds: Clouds;
  /** By node class. */
  readonly #made = new Map<string, Made>();

  constructor(context: Pick<Context, 'caches'>, revisions: Revisions, clouds: Clouds) {
    this.#context = context;
    this.#revisions = revisions;
    this.#clouds = clouds;
    context.caches.nodeClasses.subscribe({
      delete: ({ metadata }) => this.#made.delete(metadata.name),
    });
  }

  /** @throws MachineError when the cloud cannot be asked and nothing is known yet */
  async offer(nodeClass: string, signal: AbortSignal): Promise<Offer | undefined> {
    const object = this.#context.caches.nodeClasses.get(nodeClass);
    const revision = this.#revisions.current(nodeClass);
    if (!object || !revision || object.metadata.deletionTimestamp !== undefined) return undefined;
    const cloud = await this.#clouds.for(revision.nodeClass.spec);
    const sizes = await cloud.sizes(revision.nodeClass, signal);
    const corrections = correctionsOf(object.status, revision.name);
    const instanceTypes = this.#instanceTypes(revision, sizes, corrections);
    const subnets = await cloud.subnets(revision.nodeClass);
    return {
      revision: revision.name,
      nodeClass: { ...revision.nodeClass, subnets },
      instanceTypes,
    };
  }

  #instanceTypes(
    { name, nodeClass }: Revision,
    sizes: readonly SizeOnSale[],
    corrections: Corrections,
  ): readonly InstanceType[] {
    const known = this.#made.get(nodeClass.nodeClass);
    const rest = JSON.stringify([name, corrections]);
    if (known?.sizes === sizes && known.rest === rest) return known.instanceTypes;
    const basis = rest + JSON.stringify(sizes);
    const instanceTypes =
      known?.basis === basis
        ? known.instanceTypes
        : this.#make(sizes, nodeClass.spec.platform, corrections);
    this.#made.set(nodeClass.nodeClass, { sizes, rest, basis, instanceTypes });
    return instanceTypes;
  }

  #make(
    sizes: readonly SizeOnSale[],
    platform: Parameters<typeof quotasFor>[1],
    corrections: Corrections,
  ): readonly InstanceType[] {
    return sizes
      .flatMap((size) => instanceTypeFrom(size, platform, corrections) ?? [])
      .toSorted(byPrice);
  }
}

/**
 * A size as a node class makes it; undefined when it is too small for the platform's own needs.
 *
 * @param corrections what platforms of this revision turned out to advertise, which beats any arithmetic
 */
export function instanceTypeFrom(
  { type, offerings }: SizeOnSale,
  platform: Parameters<typeof quotasFor>[1],
  corrections: Corrections,
): InstanceType | undefined {
  const predicted = quotasFor(type, platform);
  if (!predicted) return undefined;
  const quotas = corrected(predicted, type.name, corrections);
  return {
    name: type.name,
    machine: type,
    offerings,
    capacity: capacityOf(quotas, platform),
    labels: labelsOf(type),
  };
}

/** What can be had before what cannot, cheap before dear, known prices before unknown ones, then by name. */
function byPrice(a: InstanceType, b: InstanceType): number {
  return rankOf(a) - rankOf(b) || priceOf(a) - priceOf(b) || (a.name < b.name ? -1 : 1);
}

/** Unknown prices are infinite, and the difference of two infinities is no number. */
function rankOf(type: InstanceType): number {
  return (type.offerings.some(({ available }) => available) ? 0 : 2) + (hasPrice(type) ? 0 : 1);
}

function priceOf(type: InstanceType): number {
  return hasPrice(type) ? Math.min(...pricesOf(type)) : 0;
}

function hasPrice(type: InstanceType): boolean {
  return pricesOf(type).length > 0;
}

function pricesOf({ offerings }: InstanceType): number[] {
  const available = offerings.filter((offering) => offering.available);
  const relevant = available.length > 0 ? available : offerings;
  return relevant.flatMap(({ price }) => price ?? []);
}
