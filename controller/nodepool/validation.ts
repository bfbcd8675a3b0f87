/**
 * What a NodePool can say that its CRD lets pass and that no machine could ever satisfy.
 *
 * Source: Karpenter v1.15, pkg/apis/v1/nodepool_validation.go and nodeclaim_validation.go, plus the deny rules of our
 * own rule table, which hold here even while no webhook answers.
 */
import { nodePools, type NodePool, type Requirement } from '#schemas/karpenter/types.ts';
import type { Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { quantityProblem } from '#schemas/quantity/quantity.ts';
import { violations } from '#schemas/rules/evaluate.ts';
import { describe } from '#schemas/rules/rule.ts';

import { foreignKeyMistakes } from './foreign-keys.ts';

/** @returns one sentence with its field path for each mistake; empty when the pool can be used */
export function mistakesOf(pool: NodePool): string[] {
  const { metadata, spec } = pool.spec.template;
  const own = [
    ...nameMistakes(pool.metadata?.name ?? ''),
    ...labelMistakes(metadata?.labels ?? {}),
    ...taintMistakes('taints', spec.taints ?? []),
    ...taintMistakes('startupTaints', spec.startupTaints ?? []),
    ...spec.requirements.flatMap(requirementMistakes),
    ...limitMistakes(pool.spec.limits ?? {}),
  ];
  return [
    ...own.map((mistake) => `${mistake} (KPU343)`),
    ...foreignKeyMistakes(pool).map((mistake) => `${mistake} (KPU104)`),
    ...violations(
      { apiVersion: apiVersionOf(nodePools), kind: 'NodePool', ...pool },
      { operation: 'CREATE' },
    )
      .filter(({ severity }) => severity === 'deny')
      .map(describe),
  ];
}

/** Claims and Nodes carry the name as a label; every claim of a pool with a longer one would be refused. */
function nameMistakes(name: string): string[] {
  if (isLabelValue(name)) return [];
  return [
    `metadata.name: "${name}" cannot be a label of its NodeClaims; use at most 63 characters`,
  ];
}

function labelMistakes(given: Readonly<Record<string, string>>): string[] {
  const path = 'spec.template.metadata.labels';
  return Object.entries(given).flatMap(([key, value]) => [
    ...badName(`${path}["${key}"]`, key),
    ...(isLabelValue(value) ? [] : [`${path}["${key}"]: "${value}" is no valid label value`]),
  ]);
}

function taintMistakes(field: 'taints' | 'startupTaints', taints: readonly Taint[]): string[] {
  return taints.flatMap(({ key, value }, index) => {
    const path = `spec.template.spec.${field}[${index}]`;
    const bad = value === undefined || isLabelValue(value) ? [] : [value];
    return [
      ...badName(`${path}.key`, key),
      ...bad.map((text) => `${path}.value: "${text}" is no valid taint value`),
    ];
  });
}

function requirementMistakes({ key, values = [] }: Requirement, index: number): string[] {
  const path = `spec.template.spec.requirements[${index}]`;
  return [
    ...badName(`${path}.key`, key),
    ...values
      .filter((value) => !isLabelValue(value))
      .map((value) => `${path}.values: "${value}" is no valid label value`),
  ];
}

/** The schema lets pass what is no number to reckon with: `1e1.5`. */
function limitMistakes(limits: ResourceList): string[] {
  return Object.entries(limits).flatMap(([resource, text]) => {
    const problem = quantityProblem(text);
    return problem === undefined ? [] : [`spec.limits.${resource}: ${problem}`];
  });
}

function badName(path: string, name: string): string[] {
  return isQualifiedName(name) ? [] : [`${path}: "${name}" is no qualified name`];
}

const namePart = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPart = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** `name` of at most 63 characters, or `dns.prefix/name`, the prefix of at most 253. */
function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').toReversed();
  if (rest.length > 0 || name.length > 63 || !namePart.test(name)) return false;
  return prefix === undefined || (prefix.length <= 253 && prefixPart.test(prefix));
}

function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && namePart.test(text));
}
