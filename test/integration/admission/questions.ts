/** Every rule at every place of the corpus, as questions that can be put to any CEL. */
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { compile, type Bindings } from '#schemas/rules/cel.ts';
import type { Case } from '#schemas/rules/corpus.ts';
import { onObject } from '#schemas/rules/expression.ts';
import { concernsUsInCel } from '#schemas/rules/ours.ts';
import { placesAt } from '#schemas/rules/places.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import { comparesWithOld, type Rule } from '#schemas/rules/rule.ts';
import { rules as table } from '#schemas/rules/table.ts';

/** The table, and the rule that stands beside it. */
const rules = [...table, labelRule];

export interface Question {
  readonly expression: string;
  readonly bindings: Bindings;
  /** Where it is from, for whoever has to find out why judges disagree. */
  readonly about: string;
}

/** `error` as the API server has it: what cannot be judged. */
export type Verdict = boolean | 'error';

/** In-process, without a message: judges word their troubles each in their own way. */
export function verdictOf({ expression, bindings }: Question): Verdict {
  try {
    return judgeOf(expression)(bindings);
  } catch {
    return 'error';
  }
}

const compiled = new Map<string, ReturnType<typeof compile>>();

function judgeOf(expression: string): ReturnType<typeof compile> {
  const known = compiled.get(expression) ?? compile(expression);
  compiled.set(expression, known);
  return known;
}

/** The rule at each of its places, as CRDs and this program judge; whatever the operation, since CEL knows none. */
export function atPlaces(cases: readonly Case[]): Question[] {
  return rules.flatMap((rule) =>
    distinct(
      cases.filter(({ object }) => isOfKind(rule, object)).flatMap((one) => placesOf(rule, one)),
    ),
  );
}

function placesOf(rule: Rule, { name, object, oldObject }: Case): Question[] {
  const expression = rule.cel;
  return placesAt(object, rule.path).flatMap(({ path, value }) => {
    const about = `${rule.name} at ${path} of ${name}`;
    if (!comparesWithOld(rule)) return [{ expression, bindings: { self: value }, about }];
    return placesAt(oldObject, path).map((old) => ({
      expression,
      bindings: { self: value, oldSelf: old.value },
      about,
    }));
  });
}

/** The rule on whole objects, as policies judge; odd shapes never get so far. */
export function onObjects(cases: readonly Case[]): Question[] {
  return rules.flatMap((rule) => {
    const expression = onObject(rule);
    return cases
      .filter(({ object, odd }) => !odd && isOfKind(rule, object))
      .filter(({ oldObject }) => oldObject || !comparesWithOld(rule))
      .map(({ name, object, oldObject }) => ({
        expression,
        bindings: comparesWithOld(rule) ? { object, oldObject } : { object },
        about: `${rule.name} on ${name}`,
      }));
  });
}

/** Whether an object is ours, as conditions ask. */
export function whoseTheyAre(cases: readonly Case[]): Question[] {
  return Object.entries(concernsUsInCel).flatMap(([kind, expression]) =>
    cases
      .filter(({ object, odd }) => !odd && object.kind === kind)
      .map(({ name, object }) => ({ expression, bindings: { object }, about: `whose is ${name}` })),
  );
}

function isOfKind({ target }: Rule, { kind, apiVersion }: Case['object']): boolean {
  return kind === target.kind && apiVersion === apiVersionOf(target);
}

/** Many cases say the same at a place. */
function distinct(questions: readonly Question[]): Question[] {
  const byText = new Map(
    questions.map((question) => [JSON.stringify(question.bindings), question] as const),
  );
  return [...byText.values()];
}
