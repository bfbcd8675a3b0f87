import { labels } from '#schemas/names.ts';
import { addResources } from '#schemas/quantity/resources.ts';

import { minus, plus, toList, type Amounts } from './amounts.ts';
import type { Candidate, PodShape } from './pod-shape.ts';
import { isRestricted, refusalText, unnamed } from './refusing.ts';
import { conflictOf, intersect, toSelector, wellKnown, type Requirements } from './requirements.ts';
import { nodeOf, sizesFor, type Miss } from './sizing.ts';
import type { PlannedClaim } from './solver.ts';
import { taintText, untolerated } from './taints.ts';
import type { Size, Template } from './template.ts';
import { ValueSet } from './value-set.ts';

/** As many as a NodeClaim may list and stay readable. */
const mostTypes = 60;

/**
 * A machine that this pass plans, while Pods are added to it. It always has at least one size that carries all of
 * them, and the cheapest one is taken off the pool's limits.
 */
export class OpenClaim {
  readonly template: Template;
  readonly #pods: Candidate[] = [];
  #requirements: Requirements;
  #sizes: readonly Size[];
  #amounts: Amounts = new Map();
  #reserved: Amounts = new Map();
  /** Shapes that did not fit once; a claim only gets fuller. */
  readonly #refused = new Set<PodShape>();

  constructor(template: Template) {
    this.template = template;
    this.#requirements = template.offered;
    this.#sizes = template.sizes;
  }

  /** Adds the Pod, or says what stands in its way and changes nothing. */
  add(candidate: Candidate): Miss | undefined {
    const { shape } = candidate;
    if (this.#refused.has(shape) || this.#isTaken(shape)) return taken;
    const miss = this.#taintMiss(shape) ?? this.#addAny(candidate);
    if (miss) this.#refused.add(shape);
    return miss;
  }

  toPlan(): PlannedClaim {
    const sizes = this.#sizes.slice(0, mostTypes);
    const names = sizes.map(({ type }) => type.name);
    const requests = this.#pods.map(({ shape }) => shape.requests);
    return {
      nodePool: this.template.name,
      requirements: toSelector(this.#stated(names)),
      requests: addResources(...requests, toList(leastDaemons(sizes))),
      instanceTypes: sizes.map(({ type }) => type),
      pods: this.#pods.map(({ key }) => key),
    };
  }

  #isTaken(shape: PodShape): boolean {
    const [first] = this.#pods;
    return first !== undefined && (shape.alone || first.shape.alone);
  }

  #taintMiss(shape: PodShape): Miss | undefined {
    const taint = untolerated(this.template.taints, shape.tolerations);
    return (
      taint && { reason: 'Taints', message: `does not tolerate the taint ${taintText(taint)}` }
    );
  }

  /** The first alternative that works; of those that do not, the one that came furthest tells why. */
  #addAny(candidate: Candidate): Miss | undefined {
    let furthest: Miss | undefined;
    for (const asked of candidate.shape.alternatives) {
      const miss = this.#addAs(candidate, asked);
      if (!miss) return undefined;
      if (!furthest || rank(miss) >= rank(furthest)) furthest = miss;
    }
    return furthest ?? noAlternative;
  }

  #addAs(candidate: Candidate, asked: Requirements): Miss | undefined {
    const restricted = [...asked].find(([key, set]) => isRestricted(key, set));
    if (restricted)
      return {
        reason: 'Restricted',
        message: `selects ${restricted[0]}, which no new node can be made for`,
      };
    const requirements = intersect(this.#requirements, unnamed(asked));
    const conflict = this.#conflict(asked, requirements);
    if (conflict !== undefined)
      return {
        reason: 'Requirements',
        message: refusalText(conflict, asked, this.template.offered),
      };
    const amounts = plus(this.#amounts, candidate.shape.amounts);
    const budget = plusKnown(this.template.remaining, this.#reserved);
    const sizes = sizesFor(this.template, this.#sizes, { requirements, amounts, budget });
    if ('reason' in sizes) return sizes;
    this.#take(candidate, { requirements, amounts, sizes, budget });
    return undefined;
  }

  /** A custom label must end as one value that the Node gets: one that stays open is one that nobody sets. */
  #conflict(asked: Requirements, both: Requirements): string | undefined {
    const key = conflictOf(this.#requirements, unnamed(asked));
    if (key !== undefined) return key;
    return [...unnamed(asked)].find(
      ([name, set]) => !wellKnown.has(name) && !set.allowsAbsence && both.get(name)?.complement,
    )?.[0];
  }

  #take(
    candidate: Candidate,
    next: { requirements: Requirements; amounts: Amounts; sizes: readonly Size[]; budget: Amounts },
  ): void {
    this.#pods.push(candidate);
    this.#requirements = next.requirements;
    this.#amounts = next.amounts;
    this.#sizes = next.sizes;
    this.#reserved = next.sizes[0] ? nodeOf(next.sizes[0]) : new Map();
    this.template.remaining = minusKnown(next.budget, this.#reserved);
  }

  /** What the NodeClaim says: labels that are fixed are labels already; a custom label gets its first value. */
  #stated(types: readonly string[]): Requirements {
    const stated = new Map<string, ValueSet>();
    for (const [key, set] of this.#requirements) {
      if (key === labels.capacityType || !Object.hasOwn(this.template.fixed, key))
        stated.set(key, concrete(key, set));
    }
    const list = ValueSet.of({ operator: 'In', values: [...types] });
    const own = stated.get(labels.instanceType);
    return stated.set(labels.instanceType, own ? list.intersect(own) : list);
  }
}

const taken: Miss = { reason: 'Unsupported', message: 'shares no node' };
const noAlternative: Miss = {
  reason: 'Requirements',
  message: 'has no node affinity term that a new node could satisfy',
};

const order = [
  'Taints',
  'Restricted',
  'Unsupported',
  'Requirements',
  'InstanceTypes',
  'Resources',
  'NoOfferings',
  'Limit',
];
const rank = ({ reason }: Miss): number => order.indexOf(reason);

function concrete(key: string, set: ValueSet): ValueSet {
  const [first] = [...set.values].toSorted();
  const isOpen = wellKnown.has(key) || set.complement || set.values.size < 2;
  return isOpen || first === undefined ? set : ValueSet.of({ operator: 'In', values: [first] });
}

function leastDaemons([first, ...rest]: readonly Size[]): Amounts {
  const least = new Map(first?.daemons);
  for (const [name, amount] of least) {
    const others = rest.map(({ daemons }) => daemons.get(name) ?? 0n);
    least.set(
      name,
      [amount, ...others].reduce((a, b) => (a < b ? a : b)),
    );
  }
  return least;
}

/** Only what has a limit counts. */
const plusKnown = (limits: Amounts, more: Amounts): Amounts => plus(limits, only(limits, more));
const minusKnown = (limits: Amounts, less: Amounts): Amounts => minus(limits, only(limits, less));

function only(limits: Amounts, amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([name]) => limits.has(name)));
}
