import type { Variant } from '../pods/variant.ts';
import type { Choice } from '../topology/choice.ts';
import { absent, open } from '../topology/domains.ts';
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
  readonly #cursors = new Map<Lane, number>();
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
    const { domains } = choice;
    const known = lanes.along(domains);
    const ofDomain = (domain: number): Place | undefined =>
      this.#scan(known.at(domain), ({ where }) => where.domainOf(domains) === domain);
    // An open place can still come to be in the emptiest domain, so it is better than one in a fuller one.
    const [emptiest, ...others] = choice.order();
    const order = emptiest === undefined ? [open] : [emptiest, open, ...others];
    if (choice.admitsAbsence) order.push(absent);
    for (const domain of order) {
      const found = ofDomain(domain);
      if (found) return found;
    }
    return undefined;
  }

  /** @param belongs  places leave a lane when their domain is decided */
  #scan(lane: Lane, belongs?: (place: Place) => boolean): Place | undefined {
    const { places } = lane;
    let start = this.#cursors.get(lane) ?? 0;
    let found: Place | undefined;
    for (let at = start; at < places.length && !found; at++) {
      const place = places[at]!;
      const verdict = belongs && !belongs(place) ? 'never' : place.check(this.probe);
      if (verdict === 'fits') found = place;
      else if (verdict === 'never' && at === start) start = at + 1;
    }
    this.#cursors.set(lane, start);
    return found;
  }

  #openings(): number {
    let sum = 0;
    for (const { version } of this.variant.opening) sum += version;
    return sum;
  }
}
