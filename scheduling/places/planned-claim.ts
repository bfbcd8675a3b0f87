import { labels } from '#schemas/names.ts';

import type { Size } from '../machines/size.ts';
import { toSelector, wellKnown, type Requirements } from '../requirements.ts';
import type { Amounts, Slots } from '../slots.ts';
import type { PlannedClaim } from '../solver.ts';
import { ValueSet } from '../value-set.ts';
import type { OpenClaim } from './open-claim.ts';
import { shortlist } from './shortlist.ts';

type Wording = Pick<PlannedClaim, 'requirements' | 'instanceTypes'>;

/** Turns claims into what is planned; claims that say the same share their words. */
export class ClaimWriter {
  readonly #slots: Slots;
  readonly #known = new WeakMap<Requirements, Map<string, Wording>>();

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  write(claim: OpenClaim): PlannedClaim {
    const { template, where, used, pods, minValues } = claim;
    const sizes = shortlist(claim);
    const { relaxed } = minValues;
    return {
      nodePool: template.name,
      ...(relaxed.size > 0
        ? wordingOf(claim, sizes)
        : this.#wording(where.requirements, claim, sizes)),
      requests: this.#slots.toList(withDaemons(used, sizes)),
      pods,
      ...(relaxed.size > 0 && { isMinValuesRelaxed: true }),
    };
  }

  #wording(requirements: Requirements, claim: OpenClaim, sizes: readonly Size[]): Wording {
    const byList = this.#known.get(requirements) ?? new Map<string, Wording>();
    this.#known.set(requirements, byList);
    const id = sizes.map(({ index }) => index).join();
    const known = byList.get(id) ?? wordingOf(claim, sizes);
    byList.set(id, known);
    return known;
  }
}

function wordingOf(claim: OpenClaim, sizes: readonly Size[]): Wording {
  return {
    requirements: toSelector(stated(claim, sizes)),
    instanceTypes: sizes.map(({ type }) => type),
  };
}

/**
 * What the NodeClaim says: labels that are fixed are labels already, and are said only where they are a matter of the
 * machine; a custom label gets its first value.
 */
function stated({ template, where, minValues }: OpenClaim, sizes: readonly Size[]): Requirements {
  const said = new Map<string, ValueSet>();
  for (const [key, set] of where.requirements) {
    if (!Object.hasOwn(template.fixed, key) || isOfTheMachine(key, sizes))
      said.set(key, concrete(key, set).withMinValues(minValues.relaxed.get(key) ?? set.minValues));
  }
  const list = ValueSet.of({ operator: 'In', values: sizes.map(({ type }) => type.name) });
  const own = said.get(labels.instanceType);
  return said.set(labels.instanceType, own ? list.intersect(own) : list);
}

/** Decided when the machine is launched, which goes by what the claim asks for. */
function isOfTheMachine(key: string, sizes: readonly Size[]): boolean {
  return (
    key === labels.capacityType ||
    key === labels.zone ||
    sizes.some(({ type }) => Object.hasOwn(type.labels, key))
  );
}

function concrete(key: string, set: ValueSet): ValueSet {
  const [first] = [...set.values].toSorted();
  const isOpen = wellKnown.has(key) || set.complement || set.values.size < 2;
  return isOpen || first === undefined ? set : ValueSet.of({ operator: 'In', values: [first] });
}

/** The least that DaemonSets take of any of the sizes. */
function withDaemons(used: Amounts, sizes: readonly Size[]): Amounts {
  return used.map((amount, slot) => {
    let least = Infinity;
    for (const { daemons } of sizes) least = Math.min(least, daemons[slot]!);
    return amount + (least === Infinity ? 0 : least);
  });
}
