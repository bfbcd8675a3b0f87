import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { isInvalid } from '#kube/client/errors.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { withDefaults } from '#schemas/nodeclass/defaults.ts';
import { type UnikraftNodeClass, unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { violations } from '#schemas/rules/evaluate.ts';
import { isInCrd } from '#schemas/rules/lint.ts';
import type { Rule } from '#schemas/rules/rule.ts';
import { describe as inWords } from '#schemas/rules/rule.ts';
import { rules } from '#schemas/rules/table.ts';

/**
 * The API server judges the samples of the rules that stand in our own CRD, with its own CEL. It has to say what the rule
 * table says, in the same words. Policies are held to the table in ../admission.
 */

let run: Run;
let plane: ControlPlane;

const inCrd = rules.filter(isInCrd);

beforeAll(async () => {
  run = await Run.open('rules-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
  await applyAll(plane.admin, await render(inject('tools').kubectl, 'kustomize/crd'));
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

/** What the server would store; nothing is written. */
async function tried(rule: Rule, sample: KubeObject): Promise<KubeObject> {
  return plane.admin.create(rule.target, sample, { dryRun: true });
}

async function refusal(rule: Rule, sample: KubeObject): Promise<string> {
  const error: unknown = await tried(rule, sample).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isInvalid(error) && error instanceof Error) return error.message;
  throw new Error(`${rule.name}: the server did not refuse a sample as invalid`, { cause: error });
}

describe.each(inCrd.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
  test('the server accepts what it accepts', async () => {
    const stored = await Promise.all(rule.accepts.map(async (sample) => tried(rule, sample)));
    expect(stored.map(({ kind }) => kind)).toEqual(rule.accepts.map(({ kind }) => kind));
  });

  test('the server refuses what it rejects, in the same words', async () => {
    const messages = await Promise.all(rule.rejects.map(async (one) => refusal(rule, one)));
    for (const message of messages) expect(message).toContain(rule.message);
  });
});

test('a refusal of the CRD names the same place and the same way out', async () => {
  const [rule] = inCrd.filter(({ name }) => name === 'node-class-image-term-selects');
  const sample = rule?.rejects[0];
  if (!rule || !sample) throw new Error('the rule is gone');
  const [broken] = violations(sample, { operation: 'CREATE' });
  if (!broken) throw new Error('the sample is not rejected');

  const message = await refusal(rule, sample);

  const [place = '', words = ''] = inWords(broken).split(/: (.*)/s);
  expect(message).toContain(place);
  expect(message).toContain(words);
});

test('withDefaults fills in exactly what the server does', async () => {
  const samples = inCrd.flatMap(({ accepts }) => accepts) as UnikraftNodeClass[];
  const stored = await Promise.all(
    samples.map(async (sample) =>
      plane.admin.create(unikraftNodeClasses, sample, { dryRun: true }),
    ),
  );
  expect(stored.map(({ spec }) => spec)).toEqual(samples.map(({ spec }) => withDefaults(spec)));
});
