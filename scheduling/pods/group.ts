/** Pods that are alike in everything that matters to where they can go: what is found out for one is known for all. */
import type { Pod } from '#schemas/kubernetes/core.ts';

import type { PodVolumes, Problem } from '../solver.ts';
import type { Labels } from '../topology/selector.ts';
import type { PodRules } from '../topology/terms.ts';
import { defaultRules } from './default-spread.ts';
import { PodForms, type PodForm } from './form.ts';
import { labelKeys } from './label-keys.ts';

export interface PodGroup {
  readonly form: PodForm;
  /** The form's own, or those that the cluster gives Pods without any. */
  readonly rules: PodRules;
  readonly namespace: string;
  /** Those that any rule looks at. */
  readonly labels: Labels;
  readonly volumes: PodVolumes | undefined;
  /** `namespace/name`, oldest first. */
  readonly pods: string[];
  /** Creation of the oldest, then its key: of groups alike in size the older comes first. */
  readonly age: string;
}

/** @throws InvalidQuantity */
export function groupsOf(problem: Problem): PodGroup[] {
  const forms = new PodForms();
  const formed = problem.pods.map((pod) => ({ pod, form: forms.of(pod), age: ageOf(pod) }));
  const groups = new Groups(problem, labelKeys(problem, forms.all));
  for (const one of formed.toSorted(olderFirst)) groups.add(one);
  return groups.all;
}

class Groups {
  readonly #problem: Problem;
  readonly #keys: readonly string[];
  readonly #known = new Map<string, PodGroup>();

  constructor(problem: Problem, keys: readonly string[]) {
    this.#problem = problem;
    this.#keys = keys;
  }

  get all(): PodGroup[] {
    return [...this.#known.values()];
  }

  add({ pod, form, age }: Formed): void {
    const key = keyOf(pod);
    const given = pod.metadata?.labels ?? {};
    const own = this.#keys.map((name) => (Object.hasOwn(given, name) ? given[name] : null));
    const volumes = this.#problem.volumes?.get(key);
    const defaults = defaultRules(form.rules, this.#problem.defaultSpread, key);
    const namespace = pod.metadata?.namespace ?? '';
    const id = `${form.id} ${namespace} ${textOf([own, volumes, defaults?.selector])}`;
    const known = this.#known.get(id);
    if (known) {
      known.pods.push(key);
      return;
    }
    this.#known.set(id, {
      form,
      rules: defaults?.rules ?? form.rules,
      namespace,
      labels: labelsOf(this.#keys, own),
      volumes,
      pods: [key],
      age,
    });
  }
}

export function keyOf({ metadata }: Pod): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

const ageOf = (pod: Pod): string => `${pod.metadata?.creationTimestamp ?? ''} ${keyOf(pod)}`;

interface Formed {
  readonly pod: Pod;
  readonly form: PodForm;
  readonly age: string;
}

function olderFirst({ age: a }: Formed, { age: b }: Formed): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function labelsOf(keys: readonly string[], values: readonly (string | null | undefined)[]): Labels {
  const labels: Record<string, string> = {};
  keys.forEach((key, index) => {
    const value = values[index];
    if (typeof value === 'string') labels[key] = value;
  });
  return labels;
}

function textOf(parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}
