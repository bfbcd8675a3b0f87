import type { ResolvedPlacement } from '../provider.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

type Subnet = ResolvedPlacement['subnets'][number];

/**
 * Which subnets a launch may go to. EC2 says every few minutes how many addresses each has; what was launched since is
 * taken off, so that a burst of machines spreads before the first of them is refused
 * (aws/karpenter-provider-aws#3364, #1297).
 *
 * The count only orders: whether a subnet is full, EC2's refusal says.
 */
export class Subnets {
  readonly #unavailable: Pick<UnavailableOfferings, 'hasAddresses'>;
  /** By subnet, as last told and less what was taken since. */
  readonly #free = new Map<string, number>();

  constructor(unavailable: Pick<UnavailableOfferings, 'hasAddresses'>) {
    this.#unavailable = unavailable;
  }

  /** @param free  addresses by subnet id, as EC2 counts them now: instances of ours that have started are counted in */
  told(free: ReadonlyMap<string, number>): void {
    for (const [subnet, addresses] of free) this.#free.set(subnet, addresses);
  }

  /** A machine was started there. */
  took(subnet: string): void {
    const free = this.#free.get(subnet);
    if (free !== undefined) this.#free.set(subnet, free - 1);
  }

  /** Those that were not refused for want of addresses of late, the emptiest first, equal ones by id. */
  usable(subnets: readonly Subnet[]): Subnet[] {
    return subnets
      .filter(({ id }) => this.#unavailable.hasAddresses(id))
      .toSorted((a, b) => this.#freeIn(b) - this.#freeIn(a) || (a.id < b.id ? -1 : 1));
  }

  /** Nothing is known of any until EC2 was asked, and of all from then on. */
  #freeIn({ id }: Subnet): number {
    return this.#free.get(id) ?? 0;
  }
}
