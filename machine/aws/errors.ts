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
} from '../errors.ts';
import { faults } from '../faults.ts';

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
  MaxSpotInstanceCountExceeded: 'quota', // never of a launch of ours, which are on demand
};

type Make = (message: string, cause: unknown, code: string) => MachineError;

const throttled: Make = (message, cause) => new Throttled(message, { cause });
const unauthorized: Make = (message, cause) => new Unauthorized(message, { cause });
const unknown: Make = (message, cause) => new OutcomeUnknown(message, { cause });
const spent: Make = (message, cause) => new AttemptSpent(message, { cause });
const slow: Make = (message, cause, code) => new CreateError(code, message, 'slow', { cause });
const tooLarge: Make = (message, cause) => new UserDataTooLarge(message, { cause });
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
  ExpiredTokenException: unauthorized,
  InvalidIdentityToken: unauthorized,
  RegionDisabledException: unauthorized,
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
  ParameterNotFound: inClass(faults.imageParameter),
  ParameterVersionNotFound: inClass(faults.imageParameter),
  UserDataSizeLimitExceeded: tooLarge,
  'InvalidSubnetID.NotFound': inClass(faults.subnetsNotFound),
  'InvalidSubnet.Range': inClass(faults.subnetsNotFound),
  'InvalidGroup.NotFound': inClass(faults.securityGroupsNotFound),
  'InvalidGroupId.Malformed': inClass(faults.securityGroupsNotFound),
  'InvalidSecurityGroupID.NotFound': inClass(faults.securityGroupsNotFound),
  'InvalidKeyPair.NotFound': inClass(faults.placementRefused),
  OperationNotPermitted: (message, cause) => new TerminationRefused(message, { cause }),
  InternalError: unknown,
  InternalFailure: unknown,
  Unavailable: unknown,
  ServiceUnavailable: unknown,
};

/**
 * Families of codes, and codes that mean several things, of which EC2's words tell which. A new instance profile is
 * known to EC2 up to a minute late; a node class's error is looked at again after as long.
 */
const families: readonly { code: RegExp; words?: RegExp; make: Make }[] = [
  { code: /^InvalidIamInstanceProfile/, make: inClass(faults.placementRefused) },
  { code: /^InvalidUserData/, make: tooLarge },
  {
    code: /^InvalidParameterValue$/,
    words: /iam instance ?profile/i,
    make: inClass(faults.placementRefused),
  },
  { code: /^InvalidParameterValue$/, words: /user data is limited/i, make: tooLarge },
  {
    code: /^InvalidParameterValue$/,
    words: /architecture/i,
    make: inClass(faults.imageUnusable),
  },
  {
    code: /^InvalidParameterCombination$/,
    words: /boot mode|\bENA\b/i,
    make: inClass(faults.imageUnusable),
  },
  {
    code: /^InvalidParameter$/,
    words: /security group|different networks/i,
    make: inClass(faults.placementRefused),
  },
];

/** The cloud's own code of any error that an SDK call threw; `Error` or another class name when it never answered. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Unknown';
}

/** What ran out, when the error says that there was no room; else undefined. */
export function shortageOf(error: unknown): Shortage | undefined {
  return shortages[codeOf(error)];
}

/** The cloud refused for the rate of calls, which says nothing else. */
export function isThrottled(error: unknown): boolean {
  return meanings[codeOf(error)] === throttled;
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
  return (meanings[code] ?? familyOf(error) ?? fallback(error))(message, error, code);
}

function familyOf(error: unknown): Make | undefined {
  const [code, { message = '' }] = [codeOf(error), error as { message?: string }];
  return families.find((one) => one.code.test(code) && (one.words?.test(message) ?? true))?.make;
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

/**
 * Code first, since conditions and events may be cut; the request id last, for AWS support. What EC2 encodes about a
 * refusal would be cut and then be worth nothing: CloudTrail has it whole, under that id.
 */
function describe(error: unknown, code: string): string {
  const { message = '', $metadata } = error as {
    message?: string;
    $metadata?: { requestId?: string };
  };
  const id = $metadata?.requestId === undefined ? '' : ` (request ${$metadata.requestId})`;
  const words = message.replace(/\s*Encoded authorization failure message: .*$/s, '');
  return `${code}: ${words.slice(0, 300)}${id}`;
}
