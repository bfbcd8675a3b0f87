import type { LabelState } from '../machines/label-state.ts';
import type { PricedSize } from '../machines/size-index.ts';
import type { Size } from '../machines/size.ts';
import type { Template } from '../machines/template.ts';
import { takenPort, type HostPort } from '../pods/host-ports.ts';
import type { Amounts } from '../slots.ts';
import type { Choice } from '../topology/choice.ts';
import { absent, open } from '../topology/domains.ts';
import { MinValues } from './min-values.ts';
import { Place } from './place.ts';
import type { Probe, Verdict } from './probe.ts';

/** What a claim becomes when the Pod is added that was asked about. */
interface Next {
  readonly state: LabelState;
  /** The cheapest size, among those that the state has on sale. */
  readonly at: number;
}

/**
 * A machine that this pass plans, while Pods are added to it. It always has at least one size that carries all of
 * them, and the cheapest one is taken off the pool's limits.
 */
export class OpenClaim extends Place {
  readonly template: Template;
  readonly free: Amounts;
  readonly pods: string[] = [];
  readonly used: Amounts;
  where: LabelState;
  readonly minValues: MinValues;
  readonly #ports: HostPort[] = [];
  #at = 0;
  /** What the cheapest size takes of the limits. */
  #reserved: Float64Array;
  #next: Next | undefined;
  /** Whether a rule over Pods kept a domain out of the last check. */
  #isRuledOut = false;
  /** Combinations of domains that the present check may still look at. */
  #patience = 0;

  /** @param isLenient whether `minValues` that cannot be had are given up */
  constructor(index: number, template: Template, isLenient: boolean) {
    super(index);
    this.template = template;
    this.where = template.start;
    this.free = template.start.most.slice();
    this.used = new Float64Array(this.free.length);
    this.minValues = new MinValues(isLenient);
    this.#reserved = new Float64Array(template.remaining.length);
  }

  /** Sizes that carry it within the limits, cheapest first. Never empty once a Pod was added. */
  sizes(most = Infinity): Size[] {
    const found: Size[] = [];
    const { sold } = this.where;
    for (let at = this.#at; at < sold.length && found.length < most; at++) {
      const { size } = sold[at]!;
      if (this.#carries(size, this.used, this.#ports)) found.push(size);
    }
    return found;
  }

  protected checkOwn(probe: Probe): Verdict {
    if (!probe.bears(this.template)) return 'never';
    const narrowed = this.where.narrow(probe.variant.asked);
    if (typeof narrowed === 'string') return 'never';
    const { ports, choices } = probe.variant;
    const load = { used: plus(this.used, probe.needs), ports: [...this.#ports, ...ports] };
    this.#isRuledOut = false;
    this.#patience = mostCombinations;
    this.#next = this.#settle(narrowed, load, choices, 0);
    if (this.#next) return 'fits';
    return this.#isRuledOut ? probe.refusal : 'never';
  }

  protected takeOwn(pod: string, { needs, variant: { ports } }: Probe): void {
    if (!this.#next) throw new Error('a Pod is only added where it was found to fit');
    const { state, at } = this.#next;
    this.pods.push(pod);
    if (ports.length > 0) this.#ports.push(...ports);
    this.where = state;
    this.#at = at;
    for (let slot = 0; slot < needs.length; slot++) {
      this.used[slot]! += needs[slot]!;
      this.free[slot] = state.most[slot]! - this.used[slot]!;
    }
    this.#reserve(state.sold[at]!);
    this.minValues.settle(state.requirements, () => this.sizes());
  }

  /**
   * Decides about one key after the other until a size is left that carries the load; after {@link mostCombinations} in
   * vain it gives up.
   */
  #settle(
    state: LabelState,
    load: { readonly used: Amounts; readonly ports: readonly HostPort[] },
    choices: readonly Choice[],
    from: number,
  ): Next | undefined {
    const choice = choices[from];
    this.#patience -= 1;
    if (this.#patience < 0) return undefined;
    if (!choice) return this.#cheapest(state, load);
    const domain = state.domainOf(choice.domains);
    if (domain !== open) {
      const isFine = domain === absent ? choice.admitsAbsence : choice.allows(domain);
      if (!isFine) this.#isRuledOut = true;
      return isFine ? this.#settle(state, load, choices, from + 1) : undefined;
    }
    const possible = state.possible(choice.domains);
    const allowed = choice.order().filter((one) => possible.includes(one));
    if (allowed.length < possible.length) this.#isRuledOut = true;
    for (const one of allowed) {
      const next = this.#settle(state.pin(choice.domains, one), load, choices, from + 1);
      if (next) return next;
    }
    return undefined;
  }

  #cheapest(
    state: LabelState,
    { used, ports }: { readonly used: Amounts; readonly ports: readonly HostPort[] },
  ): Next | undefined {
    const { sold } = state;
    // Sizes before the cheapest one do not carry what is there, so they carry nothing more either.
    const from = state === this.where ? this.#at : 0;
    for (let at = from; at < sold.length; at++) {
      if (!this.#carries(sold[at]!.size, used, ports)) continue;
      const rest = (): Size[] =>
        sold.slice(at).flatMap(({ size }) => (this.#carries(size, used, ports) ? [size] : []));
      return this.minValues.admit(state.requirements, rest) ? { state, at } : undefined;
    }
    return undefined;
  }

  #carries(size: Size, used: Amounts, ports: readonly HostPort[]): boolean {
    const { usable } = size;
    for (let slot = 0; slot < used.length; slot++) {
      if (used[slot]! > 0 && used[slot]! > usable[slot]!) return false;
    }
    return !takenPort(ports, size.ports) && this.#isWithinLimits(size);
  }

  /** Subtracted, not added, since sums of large numbers would be rounded. */
  #isWithinLimits({ takes }: Size): boolean {
    const { remaining } = this.template;
    for (let slot = 0; slot < takes.length; slot++) {
      if (takes[slot]! - this.#reserved[slot]! > remaining[slot]!) return false;
    }
    return true;
  }

  #reserve({ size }: PricedSize): void {
    const { remaining } = this.template;
    for (let slot = 0; slot < remaining.length; slot++) {
      remaining[slot]! += this.#reserved[slot]! - size.takes[slot]!;
    }
    this.#reserved = size.takes;
  }
}

/** Their number is that of the domains to the power of the keys: nine keys of four domains are a quarter of a million. */
const mostCombinations = 2000;

function plus(a: Amounts, b: Amounts): Amounts {
  const sum = new Float64Array(a.length);
  for (let slot = 0; slot < sum.length; slot++) sum[slot] = a[slot]! + b[slot]!;
  return sum;
}
