/** The engines that judge by the rule table, each with its answer to one case. */
import { isDeepStrictEqual } from 'node:util';

import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { withDefaults } from '#schemas/nodeclass/defaults.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import type { Case } from '#schemas/rules/corpus.ts';
import { describe, violations, type Violation } from '#schemas/rules/evaluate.ts';
import { alternativesOf, placesAt } from '#schemas/rules/places.ts';
import { labelViolations } from '#schemas/rules/pod/label.ts';
import { rules } from '#schemas/rules/table.ts';
import { hooks } from '#webhook/hooks.ts';
import type { AdmissionRequest } from '#webhook/review.ts';

import type { Answer } from './asking.ts';
import { resourceOf } from './stored.ts';

export interface Verdict {
  /** Codes of rules that refuse, sorted; policies tell of the first alone. */
  readonly refused: readonly string[];
  /** The first refusal in words. */
  readonly because?: string;
  readonly warned: readonly string[];
}

/** In this process, with the rule beside the table; the measure for all others. */
export function byTable(one: Case): Violation[] {
  const { object, operation, oldObject, subResource } = one;
  return [
    ...violations(object, { operation, subResource, ...(oldObject && { oldObject }) }),
    ...labelViolations(object, { operation, subResource }),
  ];
}

/** What policies are to say: of each rule and each name in its path, the first place that breaks it. */
export function expectedOfPolicies(found: readonly Violation[]): Verdict {
  const first = [
    ...Map.groupBy(found, ({ rule, path }) => `${rule} ${listOf(rule, path)}`).values(),
  ]
    .map(([one]) => one)
    .filter((one) => one !== undefined);
  const refusing = first.filter(({ severity }) => severity === 'deny');
  return {
    refused: refusing.slice(0, 1).map(({ code }) => code),
    ...(refusing[0] && { because: describe(refusing[0]) }),
    warned: first
      .filter(({ severity }) => severity === 'warn')
      .map(({ code, path, message, fix }) => `${code} ${path}: ${message} ${fix}`)
      .toSorted(),
  };
}

/** Which of a rule's lists a place is in. */
function listOf(name: string, path: string): string {
  const rule = rules.find((one) => one.name === name);
  const plain = path.replaceAll(/\[\d+\]/g, '[]');
  return alternativesOf(rule?.path ?? '').find((one) => one === plain) ?? plain;
}

/**
 * What a CRD is to say: an update that leaves the value at a rule's place as it was is not asked again, whatever else it
 * changes (ratcheting). Items of a list are told apart by nothing, so there the list is what has to be as it was. Both
 * are compared as they are stored, with the CRD's defaults: to write down a default is no change.
 */
export function expectedOfCrd(found: readonly Violation[], one: Case): Verdict {
  const refused = found
    .filter(({ severity }) => severity === 'deny')
    .filter((violation) => !one.oldObject || isTouched(violation, one.object, one.oldObject))
    .map(({ code }) => code);
  const { warned } = expectedOfPolicies(found);
  return { refused: unique(refused), warned: refused.length > 0 ? [] : warned };
}

function isTouched({ rule, path }: Violation, object: KubeObject, old: KubeObject): boolean {
  const [now, before] = [asStored(object), asStored(old)];
  return placesLookedAt(rule, path.replace(/\[.*$/, '')).some(
    (place) => !isDeepStrictEqual(placesAt(now, place), placesAt(before, place)),
  );
}

function asStored(object: KubeObject): KubeObject {
  if (object.kind !== unikraftNodeClasses.kind) return object;
  const { spec } = object as UnikraftNodeClass;
  return { ...object, spec: withDefaults(spec) } as KubeObject;
}

/** Values of the chart lie within these two, and what has no schema is not compared: their rules do it by the field. */
const aroundUnknown = ['spec', 'spec.kraftlet'];

function placesLookedAt(name: string, place: string): string[] {
  if (!aroundUnknown.includes(place)) return [place];
  const cel = rules.find((rule) => rule.name === name)?.cel ?? '';
  return [...cel.matchAll(/\bself\.(\w+)/g)].map(([, field]) => `${place}.${field}`);
}

/** By what the webhook would answer. */
export function byWebhook(one: Case): Verdict {
  const decision = hooks({ excludedNamespaces: [] })['/validate']?.decide(requestOf(one));
  if (!decision) throw new Error('there is no validating hook');
  const message = decision.allowed ? '' : decision.status.message;
  return {
    refused: codesIn(message ?? ''),
    warned: unique((decision.warnings ?? []).map((text) => text.split(' ', 1)[0] ?? '')),
  };
}

function requestOf({ object, oldObject, operation, subResource }: Case): AdmissionRequest {
  const { group, version, kind } = resourceOf(object);
  return {
    uid: 'u',
    kind: { group, version, kind },
    operation,
    object,
    oldObject: oldObject ?? null,
    ...(subResource !== undefined && { subResource }),
  };
}

/** The codes of a verdict of the table, for engines whose words are their own. */
export function codesOf(found: readonly Violation[]): Verdict {
  const of = (severity: Violation['severity']): string[] =>
    unique(found.filter((one) => one.severity === severity).map(({ code }) => code));
  return { refused: of('deny'), warned: of('warn') };
}

const policy =
  /^Validation failed for ValidatingAdmissionPolicy 'karpenter-unikraft-[^']*' with binding '[^']*': /;
const refusal =
  /ValidatingAdmissionPolicy 'karpenter-unikraft-[^']*' with binding '[^']*' denied request: (?<because>.*)$/;

/** @returns undefined when the server refused it for a reason of its own, before any rule was asked */
export function byServer(
  { object }: Case,
  { status, body, warnings }: Answer,
): Verdict | undefined {
  const warned = warnings
    .filter((text) => policy.test(text))
    .map((text) => text.replace(policy, text.length === cutAt ? '…' : ''))
    .toSorted();
  if (status < 300) return { refused: [], warned };
  const because = refusal.exec(body.message ?? '')?.groups?.['because'];
  if (because !== undefined) return { refused: codesIn(because), because, warned };
  const codes = codesIn(body.message ?? '');
  const ofCrd = object.kind === unikraftNodeClasses.kind && codes.length > 0;
  return ofCrd ? { refused: codes, warned } : undefined;
}

/**
 * Whether two verdicts are one. Past 4096 characters in all, the server cuts each warning at 256 of them, which shows by
 * a mark that {@link byServer} puts before such a one.
 */
export function agree(wanted: Verdict, given: Verdict): boolean {
  const cut = given.warned.filter((text) => text.startsWith('…')).map((text) => text.slice(1));
  const whole = wanted.warned.filter((text) => !cut.some((start) => text.startsWith(start)));
  return isDeepStrictEqual(
    { ...wanted, warned: [...whole, ...cut].toSorted() },
    { ...given, warned: given.warned.map((text) => text.replace(/^…/, '')).toSorted() },
  );
}

const cutAt = 256;

function codesIn(text: string): string[] {
  return unique([...text.matchAll(/\((KPU\d+)\)/g)].map(([, code = '']) => code));
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted();
}
