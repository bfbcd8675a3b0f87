import { describe, expect, test, vi } from 'vitest';

import type { CountMachines } from '#schemas/rules/change.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import { capacityType, claim, pool } from '#schemas/rules/samples.ts';

import type { AdmissionRequest } from './review.ts';
import { validate } from './validation.ts';

const spotOnly = () => pool([capacityType('In', 'spot')]);

function review(object: object | null, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const { kind = '' } = (object ?? {}) as { kind?: string };
  const of = { group: 'karpenter.sh', version: 'v1', kind };
  return { uid: 'u', kind: of, operation: 'CREATE', name: 'batch', object, ...more };
}

describe('what can never get a machine is refused', () => {
  test('with place, reason, way out and code, in one breath and by field', () => {
    const message =
      'Unikraft machines launch on demand only; this NodePool allows only spot or nothing, so it would never get one. ' +
      'Write it as operator In with the value "on-demand", or remove the requirement. (KPU101)';
    expect(validate(review(spotOnly()))).toEqual({
      allowed: false,
      warnings: [],
      status: {
        code: 422,
        reason: 'Invalid',
        message: `spec.template.spec.requirements[0]: ${message}`,
        details: {
          group: 'karpenter.sh',
          kind: 'NodePool',
          name: 'batch',
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.template.spec.requirements[0]', message },
          ],
        },
      },
    });
  });

  test('each place of it', () => {
    const bad = pool([capacityType('In', 'spot'), capacityType('NotIn', 'on-demand')]);
    const decision = validate(review(bad));
    expect(decision.allowed ? [] : decision.status.details?.causes).toHaveLength(2);
  });

  test('a NodeClaim that has no name yet', () => {
    const { name: _, ...nameless } = review(claim([capacityType('In', 'spot')]));
    expect(validate(nameless)).toMatchObject({ allowed: false, status: { details: { name: '' } } });
  });

  test('an update that makes a good pool bad', () => {
    const update = review(spotOnly(), { operation: 'UPDATE', oldObject: pool([]) });
    expect(validate(update).allowed).toBe(false);
  });
});

describe('a change that replaces machines is told with their number', () => {
  const before = pool([], { team: 'a' });
  const change = review(pool([], { team: 'b' }), { operation: 'UPDATE', oldObject: before });
  const plain =
    'KPU124 spec.template.metadata: This change replaces machines made before it, as they expire or are deleted.';

  test('which whoever counts is asked for, once', () => {
    const machines = vi.fn<CountMachines>(() => new Map([['sample', 12]]));
    expect(validate(change, machines)).toEqual({
      allowed: true,
      warnings: [
        'KPU124 spec.template.metadata: This change replaces 12 machines in pool sample as they expire or are deleted.',
      ],
    });
    expect(machines.mock.calls).toEqual([[change.object]]);
  });

  test('and not told where there are none', () => {
    expect(validate(change, () => new Map())).toEqual({ allowed: true });
  });

  test('and told without where nobody has counted', () => {
    expect(validate(change, () => undefined)).toEqual({ allowed: true, warnings: [plain] });
    expect(validate(change)).toEqual({ allowed: true, warnings: [plain] });
  });

  test('and without where the machines of before are of another provider', () => {
    const theirs = structuredClone(before);
    theirs.spec.template.spec.nodeClassRef.group = 'karpenter.k8s.aws';
    const { warnings } = validate({ ...change, oldObject: theirs }, () => new Map());
    expect(warnings).toContain(plain);
  });

  test('and nobody counts for anything else', () => {
    const machines = vi.fn<CountMachines>();
    validate(review(pool([])), machines);
    validate(review(before, { operation: 'UPDATE', oldObject: before }), machines);
    expect(machines).not.toHaveBeenCalled();
  });
});

test('a Pod whose label counts for nothing passes with one warning, whole', () => {
  const [bad = {}] = labelRule.rejects;
  expect(validate(review(bad))).toEqual({
    allowed: true,
    warnings: [
      'KPU159 metadata.labels: Only "true" and "false" count as karpenter.unikraft.com/inject; what it says now is passed over.',
    ],
  });
});

describe('everything else passes', () => {
  const theirs = spotOnly();
  theirs.spec.template.spec.nodeClassRef.group = 'karpenter.k8s.aws';

  test.each<[string, AdmissionRequest]>([
    ['a good pool', review(pool([capacityType('In', 'on-demand')]))],
    ["another provider's", review(theirs)],
    [
      'a write beside the spec of a bad one',
      review(spotOnly(), { operation: 'UPDATE', oldObject: spotOnly() }),
    ],
    ['the deletion of a bad one', review(null, { operation: 'DELETE', oldObject: spotOnly() })],
    ['a connection', review(spotOnly(), { operation: 'CONNECT' })],
    ['nothing', review(null)],
  ])('%s', (_, request) => {
    expect(validate(request)).toEqual({ allowed: true });
  });
});
