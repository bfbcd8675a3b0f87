/**
 * Which Pods a rule is about.
 *
 * Source: k8s.io/apimachinery v0.37, labels.Selector: no selector selects nobody, an empty one everybody.
 */
import type { LabelSelector } from '#schemas/kubernetes/meta.ts';

export type Labels = Readonly<Record<string, string>>;

/** A condition on one label; all of a selector must hold. */
interface Condition {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

export class Selector {
  /** The same for selectors that say the same. */
  readonly text: string;
  readonly #conditions: readonly Condition[] | undefined;

  /** @param selector undefined selects nobody */
  constructor(selector: LabelSelector | undefined, more: readonly Condition[] = []) {
    this.#conditions = selector && distinct([...conditionsOf(selector), ...more]);
    this.text = JSON.stringify(this.#conditions ?? null);
  }

  matches(given: Labels): boolean {
    return this.#conditions?.every((condition) => holds(condition, given)) ?? false;
  }

  get keys(): readonly string[] {
    return this.#conditions?.map(({ key }) => key) ?? [];
  }

  /** `key\0value` that every selected Pod has, where there is one: a way to look selectors up. */
  get handle(): string | undefined {
    const one = this.#conditions?.find(
      ({ operator, values }) => operator === 'In' && values.length === 1,
    );
    return one && handleOf(one.key, one.values[0] ?? '');
  }
}

/** Selectors of one pass: few are written, each is read once, and those that say the same are one. */
export class Selectors {
  readonly #written = new Map<string, Selector>();
  readonly #known = new Map<string, Selector>();

  of(selector: LabelSelector | undefined, more: readonly Condition[]): Selector {
    const text = JSON.stringify([selector, more]);
    let found = this.#written.get(text);
    if (!found) {
      const read = new Selector(selector, more);
      found = this.#known.get(read.text) ?? read;
      this.#known.set(read.text, found);
      this.#written.set(text, found);
    }
    return found;
  }
}

export const handleOf = (key: string, value: string): string => `${key}\0${value}`;

/**
 * Conditions that a rule takes from the Pod that has it: the Pod's own value of each key; keys that it lacks are passed
 * over. The API server merges them too, which does no harm.
 */
export function ownValues(
  keys: readonly string[] | undefined,
  own: Labels,
  operator: 'In' | 'NotIn' = 'In',
): Condition[] {
  return (keys ?? []).flatMap((key) => {
    const value = valueOf(own, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

function conditionsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Condition[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]): Condition => ({
      key,
      operator: 'In',
      values: [value],
    })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({
      key,
      operator,
      values: values.toSorted(),
    })),
  ];
}

function distinct(conditions: readonly Condition[]): Condition[] {
  const byText = new Map(conditions.map((condition) => [JSON.stringify(condition), condition]));
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, condition]) => condition);
}

function holds({ key, operator, values }: Condition, given: Labels): boolean {
  const value = valueOf(given, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** A label may be named as a property that every object has. */
function valueOf(given: Labels, key: string): string | undefined {
  return Object.hasOwn(given, key) ? given[key] : undefined;
}
