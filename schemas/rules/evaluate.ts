import { isDeepStrictEqual } from 'node:util';

import type { KubeObject } from '../kubernetes/meta.ts';
import { apiVersionOf } from '../kubernetes/resource.ts';
import { toCelOnce } from './cel-value.ts';
import { compile, type Judge } from './cel.ts';
import { concernsUs } from './ours.ts';
import { placesAt, placesBy, stepsOf, type Place, type Steps } from './places.ts';
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

/** A rule with what can be made ready once. */
interface Prepared {
  readonly rule: Rule;
  readonly judge: Judge;
  readonly steps: Steps;
  readonly isComparing: boolean;
  readonly subResources: readonly string[];
}

/** By version and kind: a review looks at no rule of another kind. */
const prepared = Map.groupBy(rules.map(prepare), ({ rule: { target } }) =>
  keyOf(apiVersionOf(target), target.kind),
);

function prepare(rule: Rule): Prepared {
  const subResources = resourcesOf(rule).map((resource) => resource.split('/')[1] ?? '');
  return {
    rule,
    judge: compile(rule.cel),
    steps: stepsOf(rule.path),
    isComparing: comparesWithOld(rule),
    subResources,
  };
}

function keyOf(apiVersion: unknown, kind: unknown): string {
  return `${String(apiVersion)} ${String(kind)}`;
}

/**
 * Every rule that an object breaks, in the order of the table; none for objects of other providers.
 *
 * An update is judged only when it changes the spec: labels, annotations and finalizers of an object that is bad
 * already can always be written, or nothing could ever clean it up.
 *
 * Pure; never throws, whatever the object looks like.
 */
export function violations(object: KubeObject, review: Review): Violation[] {
  const { operation, oldObject, subResource = '' } = review;
  if (!concernsUs(object) || isUntouched(object, operation, oldObject)) return [];
  const convert = toCelOnce();
  const places = placesOnce(object);
  return (prepared.get(keyOf(object.apiVersion, object.kind)) ?? [])
    .filter(
      ({ rule, subResources }) => isFor(rule, operation) && subResources.includes(subResource),
    )
    .flatMap((one) => places(one).flatMap((place) => judge(one, place, oldObject, convert)));
}

/** Many rules look at the same place of an object: the way there is gone once. */
function placesOnce(object: KubeObject): (one: Prepared) => Place[] {
  const known = new Map<string, Place[]>();
  return ({ rule: { path }, steps }) => {
    const places = known.get(path) ?? placesBy(object, steps);
    known.set(path, places);
    return places;
  };
}

function isFor({ operations }: Rule, operation: string): boolean {
  return operations.includes(operation as Operation);
}

function isUntouched(object: KubeObject, operation: string, old: Review['oldObject']): boolean {
  if (operation !== 'UPDATE' || !old || !concernsUs(old)) return false;
  return isDeepStrictEqual(placesAt(object, 'spec'), placesAt(old, 'spec'));
}

function judge(
  { rule, judge: holds, isComparing }: Prepared,
  { path, value }: Place,
  oldObject: Review['oldObject'],
  convert: (value: unknown) => unknown,
): Violation[] {
  const [old] = isComparing ? placesAt(oldObject, path) : [{ value: undefined }];
  if (!old) return [];
  try {
    const isWell = holds({ self: value, oldSelf: old.value }, convert);
    return isWell ? [] : [violationOf(rule, path, rule.message)];
  } catch (error) {
    // As the API server does: what cannot be judged is not let through in silence.
    const because = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    return [violationOf(rule, path, `It has a shape that cannot be judged (${because}).`)];
  }
}

function violationOf(
  { name, code, severity, fix }: Rule,
  path: string,
  message: string,
): Violation {
  return { rule: name, code, severity, path, message, fix };
}
