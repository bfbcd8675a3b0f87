import { isDeepStrictEqual } from 'node:util';

import type { KubeObject } from '../kubernetes/meta.ts';
import { apiVersionOf } from '../kubernetes/resource.ts';
import { compile, type Judge } from './cel.ts';
import { concernsUs } from './ours.ts';
import { placesAt, type Place } from './places.ts';
import type { Operation, Rule, Violation } from './rule.ts';
import { rules } from './table.ts';

export { describe, type Violation } from './rule.ts';

export interface Review {
  /** As an AdmissionReview says it; what rules are not for (DELETE, CONNECT) breaks none. */
  readonly operation: string;
  /** What is stored, on UPDATE. */
  readonly oldObject?: KubeObject | null;
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
export function violations(object: KubeObject, { operation, oldObject }: Review): Violation[] {
  if (!concernsUs(object) || isUntouched(object, operation, oldObject)) return [];
  return rules
    .filter((rule) => isFor(rule, object, operation))
    .flatMap((rule) => placesAt(object, rule.path).flatMap((place) => judge(rule, place)));
}

function isFor({ target, operations }: Rule, object: KubeObject, operation: string): boolean {
  return (
    object.kind === target.kind &&
    object.apiVersion === apiVersionOf(target) &&
    operations.includes(operation as Operation)
  );
}

function isUntouched(object: KubeObject, operation: string, old: Review['oldObject']): boolean {
  if (operation !== 'UPDATE' || !old || !concernsUs(old)) return false;
  return isDeepStrictEqual(placesAt(object, 'spec'), placesAt(old, 'spec'));
}

function judge(rule: Rule, { path, value }: Place): Violation[] {
  const { name, code, severity, fix } = rule;
  const violation = { rule: name, code, severity, path, fix };
  try {
    return judges.get(rule)?.(value) ? [] : [{ ...violation, message: rule.message }];
  } catch (error) {
    // As the API server does: what cannot be judged is not let through in silence.
    const because = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    return [{ ...violation, message: `It has a shape that cannot be judged (${because}).` }];
  }
}
