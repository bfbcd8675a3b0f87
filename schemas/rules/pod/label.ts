import type { Pod } from '../../kubernetes/core.ts';
import type { KubeObject } from '../../kubernetes/meta.ts';
import { labels } from '../../names.ts';
import { onObject } from '../expression.ts';
import { concernsUsInCel } from '../ours.ts';
import { placesAt } from '../places.ts';
import type { Rule, Violation } from '../rule.ts';
import { pod } from '../samples.ts';
import { listOf } from '../text.ts';
import { onPods } from './shared.ts';

/** All that the label can say. */
const known: readonly unknown[] = ['true', 'false'];

/** A Pod that nothing but its label could aim at our nodes. */
const labelled = (own: Record<string, string>): Pod =>
  pod({ nodeSelector: { [labels.virtualKubelet]: 'false' }, tolerations: [] }, { labels: own });

/**
 * The one rule on Pods of everybody. It stands beside the table: what is judged by the table concerns us, and a Pod that
 * has this label wrong does not. To take it for ours would hold it to every rule on Pods, refusals among them, when
 * perhaps it only wanted to be left alone ("no").
 */
export const labelRule: Rule = {
  ...onPods,
  name: 'pod-label-says-true-or-false',
  code: 'KPU159',
  path: 'metadata.labels',
  cel: `!('${labels.inject}' in self) || self['${labels.inject}'] in ${listOf(known.map(String))}`,
  message: `Only "true" and "false" count as ${labels.inject}; what it says now is passed over.`,
  fix: 'Write "true" to opt in or "false" to opt out, or remove the label.',
  docs: 'It is asked of every Pod, not only of those that are aimed at our nodes. A namespace opts in by "true" alone, and is not told of anything else: its label is looked at by the API server, which does not ask anybody about it.',
  accepts: [
    labelled({}),
    labelled({ [labels.inject]: 'true' }),
    labelled({ [labels.inject]: 'false' }),
    labelled({ inject: 'yes', constructor: 'x' }),
  ],
  rejects: [
    labelled({ [labels.inject]: 'True' }),
    labelled({ [labels.inject]: 'yes' }),
    labelled({ [labels.inject]: '' }),
    pod({}, { labels: { [labels.inject]: 'enabled' } }),
  ],
};

/**
 * The same without CEL, since it is asked of every Pod that comes by.
 *
 * @returns the one violation, or none; never throws, whatever the object looks like
 */
export function labelViolations(
  object: KubeObject,
  {
    operation,
    subResource,
  }: { readonly operation: string; readonly subResource?: string | undefined },
): Violation[] {
  const isMade = operation === 'CREATE' && !subResource;
  if (!isMade || object.kind !== 'Pod' || object.apiVersion !== 'v1') return [];
  const { name, code, severity, path, message, fix } = labelRule;
  return placesAt(object, path)
    .filter(({ value }) => saysOtherwise(value))
    .map(() => ({ rule: name, code, severity, path, message, fix }));
}

function saysOtherwise(own: unknown): boolean {
  if (own === null || typeof own !== 'object' || !Object.hasOwn(own, labels.inject)) return false;
  return !known.includes((own as Record<string, unknown>)[labels.inject]);
}

/** Which Pods there is anything to say about: ours, and those that say neither. */
export const judgedPodsInCel = `${concernsUsInCel.Pod} || !(${onObject(labelRule)})`;
