import { labels } from '#schemas/names.ts';

import type { Requirements } from './requirements.ts';
import type { ValueSet } from './value-set.ts';

/** Of Karpenter's own labels a Pod may select these two. */
const selectable: ReadonlySet<string> = new Set([labels.nodePool, labels.capacityType]);

/**
 * Whether no new node can be made for a selector: host names are made up later, and Karpenter's own labels tell a
 * node's state. To exclude named hosts is fine: a new one has a new name.
 */
export function isRestricted(key: string, set: ValueSet): boolean {
  if (key === labels.hostname) return !excludesSome(set);
  const [domain = ''] = key.split('/');
  const isKarpenters = domain === 'karpenter.sh' || domain.endsWith('.karpenter.sh');
  return isKarpenters && !selectable.has(key);
}

/** Without what a new node satisfies by being new. */
export function unnamed(asked: Requirements): Requirements {
  return asked.has(labels.hostname)
    ? new Map([...asked].filter(([key]) => key !== labels.hostname))
    : asked;
}

/** What was asked and what there is, for a person. */
export function refusalText(key: string, asked: Requirements, offered: Requirements): string {
  const has = offered.get(key);
  const wants = requirementText(key, asked);
  if (!has) return `asks for ${wants}, and it gives its nodes no label ${key}`;
  return `asks for ${wants}, and its nodes have ${textOf(key, has)}`;
}

/** `kubernetes.io/arch In [arm64]` */
export function requirementText(key: string, requirements: Requirements): string {
  const set = requirements.get(key);
  return set ? textOf(key, set) : key;
}

function valuesText(values: readonly string[]): string {
  return values.length > 10 ? `${values.slice(0, 10).join(', ')}, …` : values.join(', ');
}

function textOf(key: string, set: ValueSet): string {
  return set
    .toRequirements(key)
    .map(({ operator, values = [] }) =>
      values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${valuesText(values)}]`,
    )
    .join(' and ');
}

function excludesSome(set: ValueSet): boolean {
  return set.complement && set.values.size > 0;
}
