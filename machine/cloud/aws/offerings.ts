import type { Price, RegionPrices } from '#schemas/instances/data/region-prices.ts';
import type { Offering } from '#schemas/instances/instance-type.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import type { RegionSizes } from '../cloud-facts.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

/** A region with all that is known of it. */
export interface Region extends RegionSizes {
  readonly name: string;
  /** Number of the account, where it is not the operator's own. */
  readonly account?: string | undefined;
  readonly prices: RegionPrices;
}

/**
 * Where a size is sold to a node class: in the zones of its subnets. A zone can be had while the size is believed to be
 * there, and any of the subnets in it to have addresses.
 */
export function offeringsOf(
  instanceType: string,
  { name: region, account, soldIn, prices }: Region,
  { subnets }: Pick<ResolvedNodeClass, 'subnets'>,
  unavailable: UnavailableOfferings,
): Offering[] {
  const price = prices.of(instanceType);
  const byZone = Map.groupBy(subnets, ({ zone }) => zone);
  return [...byZone].flatMap(([zone, within]) => {
    const zoneID = within[0]?.zoneID ?? '';
    if (!(soldIn.get(zone) ?? soldIn.get(zoneID))?.has(instanceType)) return [];
    const available =
      unavailable.isAvailable({ account, region, instanceType, zone }) &&
      within.some(({ id }) => unavailable.hasAddresses(id));
    const priceDerived = price !== undefined && !isSaid(price);
    return [{ zone, zoneID, price: price?.perHour, priceDerived, available }];
  });
}

/** By the cloud, or by whoever runs the cluster; all else follows from a rule. */
function isSaid({ basis }: Price): boolean {
  return basis === 'table' || basis === 'override';
}
