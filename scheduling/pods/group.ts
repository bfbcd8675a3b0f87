/** Pods that are alike in everything that matters to where they can go: what is found out for one is known for all. */
import type { Pod } from '#schemas/kubernetes/core.ts';

import type { PodVolumes, Problem } from '../solver.ts';
import type { Labels } from '../topology/selector.ts';
import type { PodRules } from '../topology/terms.ts';
import { defaultRules, type DefaultedRules } from './default-spread.ts';
import { PodForms, type Formed, type PodAmounts, type PodForm } from './form.ts';
import { labelKeys } from './label-keys.ts';

/** Pods that are alike in all but how much they ask for. There are far fewer kinds than groups. */
export interface PodKind {
  readonly form: PodForm;
  /** The form's own, or those that the cluster gives Pods without any. */
  readonly rules: PodRules;
  readonly namespace: string;
  /** Those that any rule looks at. */
  readonly labels: Labels;
  readonly volumes: PodVolumes | undefined;
  /** How many of them have no node; the others have to leave theirs. */
  pending: number;
}

/** Pods of a kind that ask for the same amounts. */
export interface PodGroup {
  readonly kind: PodKind;
  readonly amounts: PodAmounts;
  /** `namespace/name`, oldest first. */
  readonly pods: string[];
  /** Creation of the oldest, then its key: of groups alike in size the older comes first. */
  readonly age: string;
}

export function groupsOf(problem: Problem): PodGroup[] {
  const forms = new PodForms();
  const formedOf = (pods: readonly Pod[], isPending: boolean): Known[] =>
    pods.map((pod) => ({ pod, isPending, key: keyOf(pod), ...forms.of(pod) }));
  const formed = [...formedOf(problem.pods, true), ...formedOf(problem.leaving ?? [], false)];
  const groups = new Groups(problem, labelKeys(problem, forms.all));
  for (const one of formed.toSorted(olderFirst)) groups.add(one);
  return groups.all;
}

interface Known extends Formed {
  readonly pod: Pod;
  readonly key: string;
  readonly isPending: boolean;
}

class Groups {
  readonly #problem: Problem;
  readonly #keys: readonly string[];
  readonly #kinds = new Map<string, PodKind>();
  readonly #groups = new Map<PodKind, Map<PodAmounts, PodGroup>>();
  /** By identity: Pods of one template share their labels. */
  readonly #labels = new Map<Labels, string>();

  constructor(problem: Problem, keys: readonly string[]) {
    this.#problem = problem;
    this.#keys = keys;
  }

  get all(): PodGroup[] {
    return [...this.#groups.values()].flatMap((byAmounts) => [...byAmounts.values()]);
  }

  add({ pod, key, form, amounts, isPending }: Known): void {
    const kind = this.#kindOf(pod, key, form);
    const groups = this.#groups.get(kind) ?? new Map<PodAmounts, PodGroup>();
    this.#groups.set(kind, groups);
    const age = `${bornAt(pod)} ${key}`;
    const group = groups.get(amounts) ?? { kind, amounts, pods: [], age };
    groups.set(amounts, group);
    group.pods.push(key);
    if (isPending) kind.pending += 1;
  }

  #kindOf({ metadata }: Pod, key: string, form: PodForm): PodKind {
    const labels = metadata?.labels ?? noLabels;
    const namespace = metadata?.namespace ?? '';
    const volumes = this.#problem.volumes?.get(key);
    const defaults = defaultRules(form.rules, this.#problem.defaultSpread, key);
    const id = `${form.id} ${namespace} ${this.#labelText(labels)} ${textOf(volumes, defaults)}`;
    const rules = defaults?.rules ?? form.rules;
    const kind = this.#kinds.get(id) ?? {
      form,
      rules,
      namespace,
      labels: this.#ownLabels(labels),
      volumes,
      pending: 0,
    };
    this.#kinds.set(id, kind);
    return kind;
  }

  #labelText(given: Labels): string {
    let text = this.#labels.get(given);
    if (text === undefined) {
      text = JSON.stringify(this.#ownLabels(given));
      this.#labels.set(given, text);
    }
    return text;
  }

  #ownLabels(given: Labels): Labels {
    const labels: Record<string, string> = {};
    for (const key of this.#keys) {
      const value = Object.hasOwn(given, key) ? given[key] : undefined;
      if (value !== undefined) labels[key] = value;
    }
    return labels;
  }
}

const noLabels: Labels = {};

/** Most Pods have neither. */
function textOf(volumes: PodVolumes | undefined, defaults: DefaultedRules | undefined): string {
  return volumes || defaults ? JSON.stringify([volumes, defaults?.selector]) : '';
}

export function keyOf({ metadata }: Pod): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

function bornAt({ metadata }: Pod): string {
  return metadata?.creationTimestamp ?? '';
}

function olderFirst(a: Known, b: Known): number {
  const [born, other] = [bornAt(a.pod), bornAt(b.pod)];
  if (born !== other) return born < other ? -1 : 1;
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}
