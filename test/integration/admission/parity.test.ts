import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { readManifests, render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { corpus, type Case } from '#schemas/rules/corpus.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import type { Rule } from '#schemas/rules/rule.ts';
import { rules as table } from '#schemas/rules/table.ts';

import { kubectl } from '../webhook/installed-webhook.ts';
import { Asker, inParallel, type Answer } from './asking.ts';
import { bare, withoutRules } from './bare-crds.ts';
import {
  agree,
  byServer,
  byTable,
  byWebhook,
  codesOf,
  expectedOfCrd,
  expectedOfPolicies,
  type Verdict,
} from './engines.ts';
import { labelsOfPods, updatesOfPods } from './more-cases.ts';
import { put, store } from './stored.ts';

/**
 * One corpus through all engines: the table in this process, the webhook's decision, and on a real API server the
 * policies and the CRD's rules. They have to give one verdict of each case.
 *
 * On UPDATE each engine has its own idea of what it is asked, and that is part of what is held here: table, webhook and
 * policies judge the whole object when its spec changed at all; the CRD's rules only where the value at their place
 * did. (An annotation on an object that is bad already passes all of them.)
 */

const tools = inject('tools');
const rules = [...table, labelRule];
const cases = [...corpus().filter(({ odd }) => !odd), ...updatesOfPods, ...labelsOfPods];
let run: Run;
let plane: ControlPlane;
let asker: Asker;
let answers: readonly Answer[];

beforeAll(async () => {
  run = await Run.open('parity-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  asker = await Asker.open(plane);
  await applyAll(plane.admin, bare(await readManifests(tools.karpenterCrds)));
  const ours = await render(tools.kubectl, 'kustomize/crd');
  await applyAll(plane.admin, withoutRules(ours));
  const stored = await inParallel(cases, async (one, index) =>
    one.oldObject ? store(asker, one, index) : undefined,
  );
  const failed = stored.find((one) => one && one.status >= 300);
  if (failed) throw new Error(`cannot store what is to be updated: ${failed.body.message}`);
  await applyAll(plane.admin, ours);
  await applyAll(plane.admin, await render(tools.kubectl, 'kustomize/policies'));
  await vi.waitFor(allInForce, { timeout: 60_000, interval: 500 });
  answers = await inParallel(cases, async (one, index) => put(asker, one, index));
}, 300_000);

afterAll(async () => {
  await asker?.close();
  await plane?.stop();
  await run?.close();
});

/** Policies come into force a moment after they are written, each by itself. */
async function allInForce(): Promise<void> {
  for (const names of rulesByPolicy()) {
    const index = cases.findIndex((each) => {
      const found = each.operation === 'CREATE' ? byTable(each) : [];
      return found.length > 0 && found.every(({ rule }) => names.has(rule));
    });
    const each = cases[index]!;
    // oxlint-disable-next-line no-await-in-loop -- a few answers
    const verdict = byServer(each, await put(asker, each, index));
    expect(verdict?.refused.length || verdict?.warned.length).toBeTruthy();
  }
}

/** Names of the rules that are one policy, for each; refusals of node classes are in the CRD, which is as good. */
function rulesByPolicy(): Set<string>[] {
  const policyOf = ({ target, severity }: Rule): string => `${target.kind} ${severity}`;
  const ofTable = [...Map.groupBy(table, policyOf).values()];
  return [...ofTable, [labelRule]].map((own) => new Set(own.map(({ name }) => name)));
}

interface Policy extends KubeObject {
  status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: object[] } };
}

const validatingAdmissionPolicies = resource<Policy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  'Cluster',
);

interface Disagreement {
  readonly name: string;
  readonly wanted: Verdict;
  readonly given: Verdict;
}

function compare(
  verdicts: readonly (readonly [one: Case, wanted: Verdict, given: Verdict | undefined])[],
): { judged: number; disagreements: Disagreement[] } {
  const judged = verdicts.flatMap(([{ name }, wanted, given]) =>
    given ? [{ name, wanted, given }] : [],
  );
  const disagreements = judged.filter(({ wanted, given }) => !agree(wanted, given));
  return { judged: judged.length, disagreements };
}

function report(engine: string, { judged, disagreements }: ReturnType<typeof compare>): void {
  console.log(
    `parity: ${engine}: ${judged} of ${cases.length} cases judged, ${disagreements.length} disagreements`,
  );
}

test('the webhook says what the table says', () => {
  const result = compare(cases.map((one) => [one, codesOf(byTable(one)), byWebhook(one)]));
  report('webhook', result);
  expect(result.disagreements).toEqual([]);
  expect(result.judged).toBe(cases.length);
});

describe('the API server says what the table says', () => {
  const isOurs = ({ object }: Case): boolean => object.kind === unikraftNodeClasses.kind;
  const indexed = cases.map((one, index) => [one, index] as const);

  test('by its policies, in the same words and with the same place', () => {
    const result = compare(
      indexed
        .filter(([one]) => !isOurs(one))
        .map(([one, index]) => [
          one,
          expectedOfPolicies(byTable(one)),
          byServer(one, answers[index]!),
        ]),
    );
    report('policies', result);
    expect(result.disagreements).toEqual([]);
  });

  test('by the CRD of node classes, and the policy that warns', () => {
    const result = compare(
      indexed
        .filter(([one]) => isOurs(one))
        .map(([one, index]) => [
          one,
          expectedOfCrd(byTable(one), one),
          byServer(one, answers[index]!),
        ]),
    );
    report('CRD rules', result);
    expect(result.disagreements).toEqual([]);
  });

  test('about all but what it refuses by itself, and about every rule both ways', () => {
    const unjudged = indexed.filter(([one, index]) => !byServer(one, answers[index]!));
    const judged = indexed.filter(([one, index]) => byServer(one, answers[index]!));
    const broken = new Set(judged.flatMap(([one]) => byTable(one).map(({ rule }) => rule)));
    expect(rules.filter(({ name }) => !broken.has(name))).toEqual([]);
    // Of Pods hardly anything may change once they are there.
    const others = unjudged.filter(
      ([{ object, operation }]) => object.kind !== 'Pod' || operation !== 'UPDATE',
    );
    expect(others.map(([{ name }]) => name)).toEqual([]);
  });
});

test('no policy stumbled over any of it', async () => {
  const metrics = await kubectl(plane, tools, ['get', '--raw', '/metrics']);
  const lines = metrics.split('\n').filter((line) => line.includes('karpenter-unikraft-'));
  const about = (series: string) => lines.filter((line) => line.startsWith(series));
  const checks = about('apiserver_validating_admission_policy_check_total');
  expect(checks.length).toBeGreaterThan(6);
  // A refusal is counted as invalid_error; all others are troubles.
  const fine = /error_type="(no_error|invalid_error)"/;
  expect(checks.filter((line) => !fine.test(line))).toEqual([]);
  expect(about('apiserver_admission_match_condition_evaluation_errors_total')).toEqual([]);
});

test('the API server finds nothing odd in the expressions', async () => {
  const found = await vi.waitFor(async () => {
    const { items } = await plane.admin.list(validatingAdmissionPolicies);
    expect(items.filter(({ status }) => !status?.observedGeneration)).toEqual([]);
    return items;
  });
  expect(found.length).toBeGreaterThan(5);
  expect(found.flatMap(({ status }) => status?.typeChecking?.expressionWarnings ?? [])).toEqual([]);
});
