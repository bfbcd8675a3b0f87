import { isDeepStrictEqual } from 'node:util';

import type { KubeObject } from '../kubernetes/meta.ts';
import { apiVersionOf } from '../kubernetes/resource.ts';
import { compile, type Judge } from './cel.ts';
import { concernsUs } from './ours.ts';
import { placesAt, type Place } from './places.ts';
import { comparesWithOld, resourcesOf, type Operation, type Rule, type Violation } from './rule.ts';
import { rules } from './table.ts';

export { describe, type Violation } from './rule.ts';

export interface Review {
  /** As an AdmissionReview says it; what rules are not for (DELETE, CONNECT) breaks none. */
  readonly operation: string;
  /** What is stored, on UPDATE. */
  readonly oldObject?: KubeObject | null;
  /** Such as `resize`; absent for the object itself. */
  readonly subResource?: string | undefined;
}

const judges: ReadonlyMap<Rule, Judge> = new Map(rules.map((rule) => [rule, compile(rule.cel)]));

/**
 * Every rule that an object breaks, in the order of the table; none for objects of other providers.
 *
 * An update is judged only when it changes the spec: labels, annotations and finalizers of an object that is bad
 * already can always be written, or nothing could ever clean it up.
 *
 * Pure; never throws, whatever the object looks like.
 */
export function violations(object: KubeObject, review: Review): Violation[] {
  const { operation, oldObject } = review;
  if (!concernsUs(object) || isUntouched(object, operation, oldObject)) return [];
  return rules
    .filter((rule) => isFor(rule, object, review))
    .flatMap((rule) =>
      placesAt(object, rule.path).flatMap((place) => judge(rule, place, oldObject)),
    );
}

function isFor(rule: Rule, object: KubeObject, { operation, subResource }: Review): boolean {
  const { target, operations } = rule;
  return (
    object.kind === target.kind &&
    object.apiVersion === apiVersionOf(target) &&
    operations.includes(operation as Operation) &&
    resourcesOf(rule).includes(subResource ? `${target.plural}/${subResource}` : target.plural)
  );
}

function isUntouched(object: KubeObject, operation: string, old: Review['oldObject']): boolean {
  if (operation !== 'UPDATE' || !old || !concernsUs(old)) return false;
  return isDeepStrictEqual(placesAt(object, 'spec'), placesAt(old, 'spec'));
}

function judge(rule: Rule, { path, value }: Place, oldObject: Review['oldObject']): Violation[] {
  const { name, code, severity, fix } = rule;
  const violation = { rule: name, code, severity, path, fix };
  const [old] = comparesWithOld(rule) ? placesAt(oldObject, path) : [{ value: undefined }];
  if (!old) return [];
  try {
    const holds = judges.get(rule)?.({ self: value, oldSelf: old.value });
    return holds ? [] : [{ ...violation, message: rule.message }];
  } catch (error) {
    // As the API server does: what cannot be judged is not let through in silence.
    const because = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    return [{ ...violation, message: `It has a shape that cannot be judged (${because}).` }];
  }
}
