import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import type { SizeOnSale } from '../provider.ts';
import { canStart } from './image.ts';
import { offeringsOf, type Region } from './offerings.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

interface Made {
  readonly basis: readonly unknown[];
  readonly sizes: readonly SizeOnSale[];
}

/** Node classes differ in few subnets; more lists than these are not of one cluster. */
const most = 100;

/**
 * The sizes that a region sells to a node class: the very same list until anything that it is made from changes. It is asked
 * for twice by each launch, and a region has a thousand sizes in three zones.
 */
export class SizesOnSale {
  readonly #unavailable: UnavailableOfferings;
  readonly #made = new Map<string, Made>();

  constructor(unavailable: UnavailableOfferings) {
    this.#unavailable = unavailable;
  }

  of(region: Region, { image, subnets }: ResolvedNodeClass): readonly SizeOnSale[] {
    const { architecture, bootMode } = image;
    // they come the emptiest first, which changes with each launch
    const inOrder = subnets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const key = JSON.stringify([region.name, region.account, architecture, bootMode, inOrder]);
    const { types, soldIn, prices } = region;
    const basis = [types, soldIn, prices, this.#unavailable.sequence];
    const known = this.#made.get(key);
    if (known?.basis.every((one, index) => one === basis[index])) return known.sizes;
    const sizes = types
      .filter((type) => canStart(type, image))
      .map((type) => ({
        type,
        offerings: offeringsOf(type.name, region, { subnets: inOrder }, this.#unavailable),
      }))
      .filter(({ offerings }) => offerings.length > 0);
    if (this.#made.size >= most) this.#made.clear();
    this.#made.set(key, { basis, sizes });
    return sizes;
  }
}
