/** Which instance types have the labels that are asked for, and what to tell when none has. */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labels } from '#schemas/names.ts';

import { requirementText } from '../refusing.ts';
import type { Requirements } from '../requirements.ts';
import type { ValueSet } from '../value-set.ts';

/** More values than this say nothing to a person. */
const valuesShown = 5;

/** Whether machines of a size can have what is asked, be it sold out for the moment. */
export function suits(type: InstanceType, requirements: Requirements): boolean {
  return [...requirements].every(([key, set]) => suitsIn(key, type, set));
}

/** Of one label; one that is no matter of size suits always. */
export function suitsIn(key: string, type: InstanceType, set: ValueSet): boolean {
  const values = valuesOf(type, key);
  return values.length === 0 || values.some((value) => set.has(value));
}

/** Every value of a label that machines of a size can have; none for labels that are no matter of size. */
export function valuesOf({ labels: own, offerings }: InstanceType, key: string): string[] {
  if (key === labels.zone) return offerings.map(({ zone }) => zone);
  const value = Object.hasOwn(own, key) ? own[key] : undefined;
  return value === undefined ? [] : [value];
}

/** As {@link valuesOf}, only zones where the size is sold now. */
export function valuesNow(type: InstanceType, key: string): string[] {
  if (key !== labels.zone) return valuesOf(type, key);
  return type.offerings.filter(({ available }) => available).map(({ zone }) => zone);
}

/**
 * `no instance type of its node class has kubernetes.io/arch In [arm64]; they have amd64`
 *
 * @param types of which none suits
 */
export function misfit(types: readonly InstanceType[], requirements: Requirements): string {
  const keys = leastOf(types, requirements);
  const wanted = keys.map((key) => requirementText(key, requirements)).join(' together with ');
  const [only, ...rest] = keys;
  const has = only === undefined || rest.length > 0 ? '' : `; they have ${valuesText(types, only)}`;
  return `no instance type of its node class has ${wanted}${has}`;
}

/** A least set of keys that together leave nothing: each that can be missed is left out. */
function leastOf(types: readonly InstanceType[], requirements: Requirements): string[] {
  const isEmpty = (keys: readonly string[]): boolean =>
    !types.some((type) =>
      keys.every((key) => {
        const set = requirements.get(key);
        return !set || suitsIn(key, type, set);
      }),
    );
  return [...requirements.keys()].reduce<string[]>(
    (keys, key) => {
      const fewer = keys.filter((one) => one !== key);
      return isEmpty(fewer) ? fewer : keys;
    },
    [...requirements.keys()],
  );
}

function valuesText(types: readonly InstanceType[], key: string): string {
  const values = [...new Set(types.flatMap((type) => valuesOf(type, key)))].toSorted();
  const more = values.length > valuesShown ? ', …' : '';
  return values.slice(0, valuesShown).join(', ') + more;
}
