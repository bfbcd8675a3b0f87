import { beforeAll, expect, test } from 'vitest';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTestPrograms } from '#sandbox/tools/tools.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { corpus } from '#schemas/rules/corpus.ts';
import { violations } from '#schemas/rules/evaluate.ts';
import { onObject } from '#schemas/rules/expression.ts';
import { concernsUs } from '#schemas/rules/ours.ts';
import type { Rule } from '#schemas/rules/rule.ts';
import { rules } from '#schemas/rules/table.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { judged, verdictIn } from './cel-judge.ts';
import {
  atPlaces,
  onObjects,
  verdictOf,
  whoseTheyAre,
  type Question,
  type Verdict,
} from './questions.ts';

/**
 * Kubernetes' own CEL judges every rule over the whole corpus, without an API server. It has to say what this program
 * says in-process, of odd shapes too: where one cannot judge, the other cannot either.
 */

const cases = corpus();
let celJudge: string;

beforeAll(async () => {
  const progress = new ScreenProgress(process.stderr, new SystemClock());
  ({ celJudge } = await ensureTestPrograms(progress));
}, 600_000);

interface Disagreement {
  about: string;
  here: Verdict;
  there: Verdict;
  because: string | undefined;
  question: Question;
}

async function disagreements(questions: readonly Question[]): Promise<Disagreement[]> {
  const answers = await judged(celJudge, questions);
  expect(answers).toHaveLength(questions.length);
  return questions
    .map((question, index) => {
      const answer = answers[index] ?? {};
      const [here, there] = [verdictOf(question), verdictIn(answer)];
      return { about: question.about, here, there, because: answer.error, question };
    })
    .filter(({ here, there }) => here !== there);
}

test('every rule, at every place of every case', async () => {
  const questions = atPlaces(cases);
  expect(new Set(questions.map(({ expression }) => expression)).size).toBeGreaterThan(50);

  const found = await disagreements(questions);

  console.log(
    `judge: ${rules.length} rules × ${cases.length} cases, ${questions.length} questions, ${found.length} disagreements`,
  );
  expect(found).toEqual([]);
});

test('every rule, on whole objects as policies ask', async () => {
  const questions = onObjects(cases);

  const found = await disagreements(questions);

  console.log(
    `judge: ${questions.length} questions on whole objects, ${found.length} disagreements`,
  );
  expect(found).toEqual([]);
});

test('whose an object is', async () => {
  const questions = whoseTheyAre(cases);
  expect(await disagreements(questions)).toEqual([]);
  expect(questions.map(verdictOf)).toEqual(
    questions.map(({ bindings }) => concernsUs(bindings.object)),
  );
});

test('a rule holds on an object exactly when it is broken at none of its places', () => {
  const made = cases.filter(({ operation, odd }) => operation === 'CREATE' && !odd);
  const ours = made.filter(({ object, subResource }) => concernsUs(object) && !subResource);
  const differing = ours.flatMap(({ name, object }) => {
    const broken = new Set(violations(object, { operation: 'CREATE' }).map(({ rule }) => rule));
    return rules
      .filter((rule) => isMadeBy(rule, object))
      .filter((rule) => broken.has(rule.name) === holdsOn(rule, object))
      .map((rule) => `${rule.name} on ${name}`);
  });
  expect(ours.length).toBeGreaterThan(300);
  expect(differing).toEqual([]);
});

function isMadeBy({ target, operations }: Rule, { kind, apiVersion }: KubeObject): boolean {
  return (
    kind === target.kind && apiVersion === apiVersionOf(target) && operations.includes('CREATE')
  );
}

function holdsOn(rule: Rule, object: KubeObject): boolean {
  const question = { expression: onObject(rule), bindings: { object }, about: rule.name };
  return verdictOf(question) === true;
}

test('the second judge is one: it knows what is false, and what it cannot judge', async () => {
  const questions: Question[] = [
    { expression: 'self == 1', bindings: { self: 2 }, about: 'false' },
    { expression: 'self.a', bindings: { self: {} }, about: 'no such key' },
    {
      expression: 'cel.bind(x, self, x)',
      bindings: { self: true },
      about: 'not CEL of Kubernetes',
    },
    {
      expression: "self['constructor'] == 'a'",
      bindings: { self: { constructor: 'a' } },
      about: 'true',
    },
  ];
  const answers = await judged(celJudge, questions);
  expect(answers.map(verdictIn)).toEqual([false, 'error', 'error', true]);
});
