import { expect, test } from 'vitest';

import { isFinal, shortageOf, toMachineError } from './errors.ts';

/** An error as the SDK throws it. */
function refusal(code: string, message = 'told', status = 400): Error {
  const fault = status < 500 ? 'client' : 'server';
  return Object.assign(new Error(message), {
    name: code,
    $fault: fault,
    $metadata: { httpStatusCode: status, requestId: 'r-1' },
  });
}

interface Row {
  code: string;
  message?: string;
  status?: number;
  /** Code of ours, and what the caller does next. */
  means: [string, string];
  /** What is marked as unavailable. */
  marks?: 'capacity' | 'unsupported' | 'subnet' | 'quota';
  /** Condition of the node class that it makes False. */
  condition?: string;
}

/** The table of reference/cloud.md §1.4, row by row. */
const table: Row[] = [
  ...['InsufficientInstanceCapacity', 'InsufficientCapacity', 'UnfulfillableCapacity'].map(
    (code): Row => ({ code, status: 500, means: ['KPU310', 'try-another'], marks: 'capacity' }),
  ),
  { code: 'ReservationCapacityExceeded', means: ['KPU310', 'try-another'], marks: 'capacity' },
  { code: 'Unsupported', means: ['KPU310', 'try-another'], marks: 'unsupported' },
  { code: 'UnsupportedOperation', means: ['KPU310', 'try-another'], marks: 'unsupported' },
  ...['VcpuLimitExceeded', 'InstanceLimitExceeded', 'MaxSpotInstanceCountExceeded'].map(
    (code): Row => ({ code, means: ['KPU316', 'try-another'], marks: 'quota' }),
  ),
  {
    code: 'InsufficientFreeAddressesInSubnet',
    means: ['KPU310', 'try-another'],
    marks: 'subnet',
  },
  { code: 'UnauthorizedOperation', status: 403, means: ['KPU311', 'slow'] },
  ...['InvalidAMIID.NotFound', 'InvalidAMIID.Malformed'].map((code): Row => ({
    code,
    means: ['KPU220', 'node-class'],
    condition: 'ImageReady',
  })),
  { code: 'InvalidAMIID.Unavailable', means: ['KPU222', 'node-class'], condition: 'ImageReady' },
  {
    code: 'InvalidSubnetID.NotFound',
    means: ['KPU230', 'node-class'],
    condition: 'PlacementReady',
  },
  { code: 'InvalidGroup.NotFound', means: ['KPU231', 'node-class'], condition: 'PlacementReady' },
  {
    code: 'InvalidParameter',
    message: 'Security group sg-1 and subnet subnet-1 belong to different networks.',
    means: ['KPU232', 'node-class'],
    condition: 'PlacementReady',
  },
  { code: 'InvalidKeyPair.NotFound', means: ['KPU232', 'node-class'], condition: 'PlacementReady' },
  ...['InvalidIamInstanceProfile.NotFound', 'InvalidIamInstanceProfileArn.Malformed'].map(
    (code): Row => ({ code, means: ['KPU232', 'node-class'], condition: 'PlacementReady' }),
  ),
  {
    code: 'InvalidParameterValue',
    message:
      'Value (machine) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name',
    means: ['KPU232', 'node-class'],
    condition: 'PlacementReady',
  },
  { code: 'UserDataSizeLimitExceeded', means: ['KPU317', 'slow'] },
  { code: 'InvalidUserData.Malformed', means: ['KPU317', 'slow'] },
  {
    code: 'InvalidParameterValue',
    message: 'User data is limited to 16384 bytes',
    means: ['KPU317', 'slow'],
  },
  {
    code: 'InvalidParameterValue',
    message: "The architecture 'x86_64' of the specified instance type does not match",
    means: ['KPU222', 'node-class'],
    condition: 'ImageReady',
  },
  {
    code: 'InvalidParameterCombination',
    message: 'The instance configuration for this AWS Marketplace product is not supported',
    means: ['KPU312', 'retry'],
  },
  {
    code: 'InvalidParameterCombination',
    message:
      "Enhanced networking with the Elastic Network Adapter (ENA) is required for 'm8i.large'",
    means: ['KPU222', 'node-class'],
    condition: 'ImageReady',
  },
  ...['RequestLimitExceeded', 'Throttling', 'EC2ThrottledException'].map((code): Row => ({
    code,
    status: 503,
    means: ['KPU313', 'retry'],
  })),
  { code: 'IdempotentParameterMismatch', means: ['KPU315', 'next-attempt'] },
  { code: 'IdempotentInstanceTerminated', means: ['KPU315', 'next-attempt'] },
  ...['PendingVerification', 'OptInRequired', 'Blocked'].map((code): Row => ({
    code,
    means: ['KPU312', 'slow'],
  })),
  ...['InternalError', 'Unavailable', 'ServiceUnavailable', 'NeverHeardOf'].map((code): Row => ({
    code,
    status: 503,
    means: ['KPU314', 'same-again'],
  })),
  ...['RequestExpired', 'AuthFailure', 'SignatureDoesNotMatch'].map((code): Row => ({
    code,
    status: 401,
    means: ['KPU311', 'slow'],
  })),
  { code: 'OperationNotPermitted', means: ['KPU331', 'slow'] },
  { code: 'NeverHeardOf', means: ['KPU312', 'retry'] },
];

test.each(table)('$code $message means $means and marks $marks', (row) => {
  const error = refusal(row.code, row.message, row.status);
  const known = toMachineError(error, 'Starting m8i.large');

  expect([known.code, known.next]).toEqual(row.means);
  expect(shortageOf(error)).toBe(row.marks);
  expect(isFinal(error)).toBe(row.marks !== undefined);
  expect((known as { condition?: string }).condition).toBe(row.condition);
  expect(known.message).toMatch(/^Starting m8i\.large: .*\(request r-1\)$/);
});

test.each(['ECONNRESET', 'TimeoutError'])(
  '%s, without any answer, has an unknown outcome',
  (name) => {
    const error = Object.assign(new Error('socket hang up'), { name });
    expect(toMachineError(error, 'Starting m8i.large')).toMatchObject({ next: 'same-again' });
  },
);

test('what EC2 encodes about a refusal is left out, since a part of it is worth nothing', () => {
  const encoded = `You are not authorized to perform this operation. Encoded authorization failure message: ${'x'.repeat(900)}`;
  expect(toMachineError(refusal('UnauthorizedOperation', encoded), 'Starting').message).toBe(
    'Starting: UnauthorizedOperation: You are not authorized to perform this operation. (request r-1)',
  );
});
