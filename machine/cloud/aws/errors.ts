import {
  AttemptSpent,
  CreateError,
  InsufficientCapacity,
  MachineError,
  NodeClassError,
  OutcomeUnknown,
  TerminationRefused,
  Throttled,
  Unauthorized,
  UserDataTooLarge,
} from '../../errors.ts';
import { faults } from '../../faults.ts';

/** What ran out, and so what is marked: a size in a zone, addresses of a subnet, or a quota of the account. */
export type Shortage = 'capacity' | 'unsupported' | 'subnet' | 'quota';

/**
 * EC2's ways to say that there is no room. Some come with status 500, which an SDK repeats unless told not to.
 *
 * Source: EC2 API reference, error codes; Karpenter's AWS provider, pkg/errors.
 */
const shortages: Readonly<Record<string, Shortage>> = {
  InsufficientInstanceCapacity: 'capacity',
  InsufficientCapacity: 'capacity',
  UnfulfillableCapacity: 'capacity',
  InsufficientHostCapacity: 'capacity',
  ReservationCapacityExceeded: 'capacity',
  Unsupported: 'unsupported',
  UnsupportedOperation: 'unsupported',
  InsufficientFreeAddressesInSubnet: 'subnet',
  VcpuLimitExceeded: 'quota',
  InstanceLimitExceeded: 'quota',
};

type Make = (message: string, cause: unknown, code: string) => MachineError;

const throttled: Make = (message, cause) => new Throttled(message, { cause });
const unauthorized: Make = (message, cause) => new Unauthorized(message, { cause });
const unknown: Make = (message, cause) => new OutcomeUnknown(message, { cause });
const spent: Make = (message, cause) => new AttemptSpent(message, { cause });
const slow: Make = (message, cause, code) => new CreateError(code, message, 'slow', { cause });
const inClass =
  (fault: (typeof faults)[keyof typeof faults]): Make =>
  (message, cause) =>
    new NodeClassError(fault, message, { cause });

/** What each code means for the caller. Codes that are not named become CreateError with the code as reason. */
const meanings: Readonly<Record<string, Make>> = {
  RequestLimitExceeded: throttled,
  Throttling: throttled,
  ThrottlingException: throttled,
  EC2ThrottledException: throttled,
  PriorRequestNotComplete: throttled,
  UnauthorizedOperation: unauthorized,
  AccessDenied: unauthorized,
  AccessDeniedException: unauthorized,
  AuthFailure: unauthorized,
  InvalidClientTokenId: unauthorized,
  SignatureDoesNotMatch: unauthorized,
  ExpiredToken: unauthorized,
  RequestExpired: unauthorized,
  CredentialsProviderError: unauthorized,
  PendingVerification: slow,
  OptInRequired: slow,
  Blocked: slow,
  IdempotentInstanceTerminated: spent,
  IdempotentParameterMismatch: spent,
  'InvalidAMIID.NotFound': inClass(faults.imageNotFound),
  'InvalidAMIID.Malformed': inClass(faults.imageNotFound),
  'InvalidAMIID.Unavailable': inClass(faults.imageUnusable),
  UserDataSizeLimitExceeded: (message, cause) => new UserDataTooLarge(message, { cause }),
  'InvalidSubnetID.NotFound': inClass(faults.subnetsNotFound),
  'InvalidSubnet.Range': inClass(faults.subnetsNotFound),
  'InvalidGroup.NotFound': inClass(faults.securityGroupsNotFound),
  'InvalidGroupId.Malformed': inClass(faults.securityGroupsNotFound),
  'InvalidSecurityGroupID.NotFound': inClass(faults.securityGroupsNotFound),
  'InvalidIamInstanceProfile.NotFound': inClass(faults.placementRefused),
  'InvalidIamInstanceProfileArn.Malformed': inClass(faults.placementRefused),
  OperationNotPermitted: (message, cause) => new TerminationRefused(message, { cause }),
  InternalError: unknown,
  InternalFailure: unknown,
  Unavailable: unknown,
  ServiceUnavailable: unknown,
};

/** The cloud's own code of any error that an SDK call threw; `Error` or another class name when it never answered. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Unknown';
}

/** What ran out, when the error says that there was no room; else undefined. */
export function shortageOf(error: unknown): Shortage | undefined {
  return shortages[codeOf(error)];
}

/** Repeating a call with one of these codes cannot help within a second, whatever its HTTP status. */
export function isFinal(error: unknown): boolean {
  return shortageOf(error) !== undefined;
}

/**
 * An SDK's failure as the rest of the program sees it: who acts next, and one sentence with code and request id.
 *
 * @param doing  what was tried, as the beginning of a sentence: `Starting m8i.large in us-east-1a`
 */
export function toMachineError(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  const code = codeOf(error);
  const message = `${doing}: ${describe(error, code)}`;
  const shortage = shortageOf(error);
  if (shortage) {
    const of = shortage === 'quota' ? 'quota' : 'capacity';
    return new InsufficientCapacity(message, of, { cause: error });
  }
  return (meanings[code] ?? fallback(error))(message, error, code);
}

function fallback(error: unknown): Make {
  const { $fault, $metadata } = error as {
    $fault?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const answered = $metadata?.httpStatusCode !== undefined;
  if (!answered || $fault === 'server') return unknown;
  return (message, cause, code) => new CreateError(code, message, 'retry', { cause });
}

/** Code first, since conditions and events may be cut; the request id last, for AWS support. */
function describe(error: unknown, code: string): string {
  const { message = '', $metadata } = error as {
    message?: string;
    $metadata?: { requestId?: string };
  };
  const id = $metadata?.requestId === undefined ? '' : ` (request ${$metadata.requestId})`;
  return `${code}: ${message.slice(0, 300)}${id}`;
}
