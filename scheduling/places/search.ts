import type { Variant } from '../pods/variant.ts';
import type { Amounts } from '../slots.ts';
import type { Choice } from '../topology/choice.ts';
import { absent, open, type Domains } from '../topology/domains.ts';
import { startsGroup } from '../topology/rule.ts';
import { blockSize, Lane, type Lanes } from './lanes.ts';
import type { Place } from './place.ts';
import { Probe } from './probe.ts';

/** Where a search may look. */
export interface Lookout {
  /** By number. */
  readonly all: readonly Place[];
  readonly nodes: Lanes;
  readonly planned: Lanes;
}

/** A domain that places of a lane are in. */
interface Spot {
  readonly domains: Domains;
  readonly domain: number;
}

/** Looks for places for a group in one of its variants, and never again where it can never go. */
export class Search {
  readonly variant: Variant;
  readonly probe: Probe;
  readonly #main: Choice | undefined;
  /** Places before it are never asked again. */
  readonly #cursors = new Map<Lane, number>();
  /** Hosts with a Pod that the variant must be beside. */
  readonly #hosts = new Lane();
  /** The first place of a block that may still take the variant some time. */
  #hopeful = 0;
  #failedAt = -1;

  constructor(variant: Variant, needs: Amounts, knowsPods: boolean) {
    this.variant = variant;
    this.probe = new Probe(variant, needs, knowsPods);
    this.#main = variant.choices.find(({ isBinding, isEven }) => isBinding || isEven);
  }

  /** Whether all was tried in vain, and nothing has changed since that could help. */
  get isExhausted(): boolean {
    return this.#failedAt >= 0 && this.#failedAt === this.#openings();
  }

  fail(): void {
    this.#failedAt = this.#openings();
  }

  /**
   * The first place that takes the Pod, nodes in sight before machines that are planned; where domains matter, in the
   * emptiest one.
   */
  find({ all, nodes, planned }: Lookout): Place | undefined {
    const near = this.variant.hostRules.find(({ kind }) => kind === 'affinity');
    if (near?.kind === 'affinity' && !startsGroup(near))
      return this.#besides(near.counter.hosts, all);
    return this.#along(nodes) ?? this.#along(planned);
  }

  /** Only hosts that have such a Pod can be meant. */
  #besides(hosts: readonly number[], all: readonly Place[]): Place | undefined {
    for (let at = this.#hosts.places.length; at < hosts.length; at++) {
      this.#hosts.add(all[hosts[at]!]!);
    }
    return this.#scan(this.#hosts);
  }

  #along(lanes: Lanes): Place | undefined {
    const choice = this.#main;
    if (!choice) return this.#scan(lanes.all);
    const { domains } = choice;
    const road = lanes.along(domains);
    const order = choice.order();
    // An open place can still come to be in the emptiest domain, so it is better than one in a fuller one.
    for (let at = 0; at < order.length; at++) {
      const domain = order[at]!;
      const found =
        this.#scan(road.at(domain), { domains, domain }) ??
        (at === 0 ? this.#scan(road.at(open), { domains, domain: open }) : undefined);
      if (found) return found;
    }
    return choice.admitsAbsence
      ? this.#scan(road.at(absent), { domains, domain: absent })
      : undefined;
  }

  /** @param spot  a place leaves the lane when it comes to be in another domain */
  #scan(lane: Lane, spot?: Spot): Place | undefined {
    const { length } = lane.places;
    let start = this.#cursors.get(lane) ?? 0;
    let found: Place | undefined;
    for (let block = Math.floor(start / blockSize); block * blockSize < length && !found; block++) {
      const from = Math.max(start, block * blockSize);
      const end = Math.min(length, (block + 1) * blockSize);
      const isFull = !lane.mayHaveRoom(block, this.probe.needs);
      found = isFull ? undefined : this.#scanBlock(lane.places, from, end, spot);
      if (start === from) start = isFull ? end : this.#hopeful;
      if (!isFull && !found) lane.refresh(block);
    }
    this.#cursors.set(lane, start);
    return found;
  }

  #scanBlock(
    places: readonly Place[],
    from: number,
    end: number,
    spot: Spot | undefined,
  ): Place | undefined {
    this.#hopeful = from;
    for (let at = from; at < end; at++) {
      const place = places[at]!;
      const isElsewhere = spot && place.where.domainOf(spot.domains) !== spot.domain;
      const verdict = isElsewhere ? 'never' : place.check(this.probe);
      if (verdict === 'fits') return place;
      if (verdict === 'never' && at === this.#hopeful) this.#hopeful = at + 1;
    }
    return undefined;
  }

  #openings(): number {
    let sum = 0;
    for (const { version } of this.variant.opening) sum += version;
    return sum;
  }
}
