import type { Variant } from '../pods/variant.ts';
import type { Choice } from '../topology/choice.ts';
import { absent, open, type Domains } from '../topology/domains.ts';
import { startsGroup } from '../topology/rule.ts';
import type { Lane, Lanes } from './lanes.ts';
import type { Place } from './place.ts';
import { Probe } from './probe.ts';

/** Where a search may look. */
export interface Lookout {
  /** By number. */
  readonly all: readonly Place[];
  readonly nodes: Lanes;
  readonly planned: Lanes;
}

/** Looks for places for one variant, and never again where it can never go. */
export class Search {
  readonly variant: Variant;
  readonly probe: Probe;
  readonly #main: Choice | undefined;
  /** Places before it are never asked again. */
  readonly #cursors = new Map<readonly Place[], number>();
  /** Hosts with a Pod that the variant must be beside. */
  readonly #hosts: { readonly places: Place[] } = { places: [] };
  #failedAt = -1;

  constructor(variant: Variant, knowsPods: boolean) {
    this.variant = variant;
    this.probe = new Probe(variant, knowsPods);
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
    const { places } = this.#hosts;
    for (let at = places.length; at < hosts.length; at++) places.push(all[hosts[at]!]!);
    return this.#scan(this.#hosts);
  }

  #along(lanes: Lanes): Place | undefined {
    const choice = this.#main;
    if (!choice) return this.#scan(lanes.all);
    const road = lanes.along(choice.domains);
    const order = choice.order();
    // An open place can still come to be in the emptiest domain, so it is better than one in a fuller one.
    for (let at = 0; at < order.length; at++) {
      const found =
        this.#scan(road.at(order[at]!), choice.domains, order[at]) ??
        (at === 0 ? this.#scan(road.at(open), choice.domains, open) : undefined);
      if (found) return found;
    }
    return choice.admitsAbsence ? this.#scan(road.at(absent), choice.domains, absent) : undefined;
  }

  /** @param domain  a place leaves the lane when it comes to be in another one */
  #scan({ places }: Lane, domains?: Domains, domain?: number): Place | undefined {
    let start = this.#cursors.get(places) ?? 0;
    for (let at = start; at < places.length; at++) {
      const place = places[at]!;
      const isElsewhere = domains !== undefined && place.where.domainOf(domains) !== domain;
      const verdict = isElsewhere ? 'never' : place.check(this.probe);
      if (verdict === 'never' && at === start) start = at + 1;
      if (verdict !== 'fits') continue;
      this.#cursors.set(places, start);
      return place;
    }
    this.#cursors.set(places, start);
    return undefined;
  }

  #openings(): number {
    let sum = 0;
    for (const { version } of this.variant.opening) sum += version;
    return sum;
  }
}
