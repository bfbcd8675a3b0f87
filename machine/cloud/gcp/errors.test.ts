import { describe, expect, test } from 'vitest';

import { NodeClassError, TerminationRefused } from '../../errors.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import { refusalIn, refusalOf, refusedEnd, shortageOf, toMachineError } from './errors.ts';

const answered = (reason: string, status: number, message = 'told so'): GoogleError =>
  new GoogleError({ status, reason }, message);

/** The table of Compute Engine's refusals: what each comes to. */
describe('the error of an operation', () => {
  test.for([
    ['ZONE_RESOURCE_POOL_EXHAUSTED', '', 'capacity', 'KPU310', 'try-another'],
    ['ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', '', 'capacity', 'KPU310', 'try-another'],
    ['IP_SPACE_EXHAUSTED', '', 'subnet', 'KPU310', 'try-another'],
    ['IP_SPACE_EXHAUSTED_WITH_DETAILS', '', 'subnet', 'KPU310', 'try-another'],
    ['QUOTA_EXCEEDED', "Quota 'C3_CPUS' exceeded.", 'quota', 'KPU316', 'try-another'],
    ['UNSUPPORTED_OPERATION', '', 'unsupported', 'KPU310', 'try-another'],
    ['INVALID_USAGE', '', 'unsupported', 'KPU310', 'try-another'],
    [
      'RESOURCE_NOT_FOUND',
      "'projects/p/zones/z/machineTypes/n2-x' was not found",
      'unsupported',
      'KPU310',
      'try-another',
    ],
    [
      'RESOURCE_NOT_FOUND',
      "'projects/p/global/images/x' was not found",
      undefined,
      'KPU220',
      'node-class',
    ],
    [
      'RESOURCE_NOT_FOUND',
      "'projects/p/regions/r/subnetworks/x' was not found",
      undefined,
      'KPU230',
      'node-class',
    ],
    ['CONFLICT', 'deleted while it was made', undefined, 'KPU315', 'next-attempt'],
    ['RESOURCE_NOT_READY', '', undefined, 'KPU312', 'retry'],
    [
      'CONDITION_NOT_MET',
      'Constraint constraints/compute.vmExternalIpAccess violated',
      undefined,
      'KPU232',
      'node-class',
    ],
    ['INTERNAL_ERROR', '', undefined, 'KPU314', 'same-again'],
    ['PERMISSIONS_ERROR', '', undefined, 'KPU311', 'slow'],
    ['SOMETHING_NEW', '', undefined, 'KPU312', 'slow'],
  ] as const)('%s %s', ([code, message, shortage, ours, next]) => {
    const refusal = refusalIn({ status: 'DONE', error: { errors: [{ code, message }] } });
    expect(shortageOf(refusal!)).toBe(shortage);
    expect(toMachineError(refusal!, 'Starting')).toMatchObject({ code: ours, next });
  });

  test('is none when all went well', () => {
    expect(refusalIn({ status: 'DONE' })).toBeUndefined();
    expect(refusalIn({ status: 'DONE', error: { errors: [] } })).toBeUndefined();
  });

  test('names the quota, by its detail or in its words', () => {
    const quota = (fields: object) =>
      refusalIn({ error: { errors: [{ code: 'QUOTA_EXCEEDED', ...fields }] } })?.metric;
    expect(quota({ message: "Quota 'N2_CPUS' exceeded.  Limit: 8.0" })).toBe('N2_CPUS');
    expect(quota({ errorDetails: [{}, { quotaInfo: { metricName: 'C3_CPUS' } }] })).toBe('C3_CPUS');
    const info = { errorInfo: { metadatas: { metricName: 'CPUS' } } };
    expect(quota({ errorDetails: [info] })).toBe('CPUS');
    const full = [{ quotaInfo: { metricName: 'compute.googleapis.com/n2_cpus' } }];
    expect(quota({ errorDetails: full })).toBe('N2_CPUS');
    expect(quota({ errorDetails: full, message: "Quota 'CPUS' exceeded." })).toBe('CPUS');
  });

  test('names the quota of an answer in the same spelling', () => {
    const metricOf = (message: string, facts: Record<string, string>) =>
      refusalOf(new GoogleError({ status: 403, reason: 'quotaExceeded', facts }, message)).metric;
    const facts = { quota_metric: 'compute.googleapis.com/c3_cpus' };
    expect(metricOf('too many', facts)).toBe('C3_CPUS');
    expect(metricOf("Quota 'N2_CPUS' exceeded.", facts)).toBe('N2_CPUS');
  });
});

describe('an answer', () => {
  test.for([
    ['quotaExceeded', 403, 'KPU316', 'try-another'],
    ['rateLimitExceeded', 403, 'KPU313', 'retry'],
    ['rateLimitExceeded', 429, 'KPU313', 'retry'],
    ['RATE_LIMIT_EXCEEDED', 429, 'KPU313', 'retry'],
    ['userRateLimitExceeded', 403, 'KPU313', 'retry'],
    ['unknownReason', 429, 'KPU313', 'retry'],
    ['forbidden', 403, 'KPU311', 'slow'],
    ['SERVICE_DISABLED', 403, 'KPU311', 'slow'],
    ['accessNotConfigured', 403, 'KPU311', 'slow'],
    ['authError', 401, 'KPU311', 'slow'],
    ['NoCredentials', 401, 'KPU311', 'slow'],
    ['unknownReason', 403, 'KPU311', 'slow'],
    ['invalid', 400, 'KPU312', 'slow'],
    ['badRequest', 400, 'KPU312', 'slow'],
    ['conditionNotMet', 412, 'KPU312', 'retry'],
    ['resourceNotReady', 400, 'KPU312', 'retry'],
    ['alreadyExists', 409, 'KPU312', 'retry'],
    ['backendError', 503, 'KPU314', 'same-again'],
    ['unknownReason', 500, 'KPU314', 'same-again'],
    ['unknownReason', 408, 'KPU314', 'same-again'],
    ['Unanswered', 0, 'KPU314', 'same-again'],
    ['TokenUnanswered', 503, 'KPU215', 'retry'],
    ['constructor', 400, 'KPU312', 'slow'],
  ] as const)('%s with status %i', ([reason, status, code, next]) => {
    const error = toMachineError(refusalOf(answered(reason, status)), 'Starting');
    expect(error).toMatchObject({ code, next });
    expect(error.message).toBe(`Starting: ${reason}: told so`);
  });

  test.for([
    ['Nested virtualization is not supported for machine type n2d-standard-8.', 'unsupported'],
    ["Machine type with name 'n2-x' does not exist in zone 'z'.", 'unsupported'],
    ['[pd-balanced] features are not compatible for creating instance.', 'unsupported'],
    ["Invalid value for field 'resource.name': 'A'", undefined],
  ] as const)('that refuses a size puts it aside: %s', ([message, shortage]) => {
    expect(shortageOf(refusalOf(answered('invalid', 400, message)))).toBe(shortage);
  });

  test('about the service account speaks of the node class', () => {
    const message = "Invalid value for field 'resource.serviceAccounts[0].email': 'x@y'";
    const error = toMachineError(refusalOf(answered('invalid', 400, message)), 'Starting');
    expect(error).toBeInstanceOf(NodeClassError);
    expect(error.reason).toBe('PlacementRefused');
  });

  test.for(['forbidden', 'PERMISSION_DENIED'])(
    '%s that names a policy of the organisation speaks of the node class, and names it',
    (reason) => {
      const message = 'Constraint constraints/compute.disableNestedVirtualization violated';
      const error = toMachineError(refusalOf(answered(reason, 403, message)), 'Starting');
      expect(error).toMatchObject({ code: 'KPU232', next: 'node-class' });
      expect(error.message).toContain('constraints/compute.disableNestedVirtualization');
    },
  );

  test('that protects an instance waits for a person', () => {
    const message = "Resource cannot be deleted if it's protected against deletion";
    expect(refusedEnd(answered('conditionNotMet', 412, message), 'Ending')).toBeInstanceOf(
      TerminationRefused,
    );
    expect(refusedEnd(answered('conditionNotMet', 412), 'Ending')).toMatchObject({ next: 'retry' });
  });

  test('whose words are long loses their end, never the code', () => {
    const error = toMachineError(refusalOf(answered('invalid', 400, 'x'.repeat(9000))), 'Starting');
    expect(error.message).toHaveLength('Starting: invalid: '.length + 500);
  });

  test('an error that no API gave stays what it is', () => {
    expect(() => refusalOf(new TypeError('a mistake'))).toThrow('a mistake');
  });
});
