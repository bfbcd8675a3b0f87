import {
  AttemptSpent,
  CloudUnreachable,
  CreateError,
  InsufficientCapacity,
  MachineError,
  NodeClassError,
  OutcomeUnknown,
  TerminationRefused,
  Throttled,
  Unauthorized,
} from '../../errors.ts';
import { type Fault, faults } from '../../faults.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { Operation, OperationError } from './resources.ts';

/** What ran out, and so what is marked: a size in a zone, addresses of a subnetwork, or a quota of the project. */
export type Shortage = 'capacity' | 'unsupported' | 'subnet' | 'quota';

/**
 * A refusal of Compute Engine, however it came: as the answer to a call, or later as the error of the operation that
 * the call began. Reasons of answers are in camelCase and codes of operations in capitals, so that one table serves
 * both.
 */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** HTTP status of an answer; 0: there was none; undefined: the error of an operation. */
  readonly status: number | undefined;
  /** Of a quota: `N2_CPUS`. */
  readonly metric: string | undefined;
  readonly cause: unknown;
}

type Make = (refusal: Refusal, text: string) => MachineError;
type Meaning = Shortage | Make;

const throttled: Make = ({ cause }, text) => new Throttled(text, { cause });
const unauthorized: Make = ({ cause }, text) => new Unauthorized(text, { cause });
const unknown: Make = ({ cause }, text) => new OutcomeUnknown(text, { cause });
/** Nothing was sent. */
const away: Make = ({ cause }, text) => new CloudUnreachable(text, { cause });
const later: Make = ({ code, cause }, text) => new CreateError(code, text, 'retry', { cause });
const slow: Make = ({ code, cause }, text) => new CreateError(code, text, 'slow', { cause });

/**
 * What each code means for the caller. What is not named becomes a CreateError with the code as its reason, or, of a
 * server's error, an unknown outcome.
 *
 * Source: Compute Engine docs, "Handling API errors" and "Troubleshooting VM creation"; Karpenter providers' issues.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  ZONE_RESOURCE_POOL_EXHAUSTED: 'capacity',
  ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: 'capacity',
  resourcePoolExhausted: 'capacity',
  IP_SPACE_EXHAUSTED: 'subnet',
  IP_SPACE_EXHAUSTED_WITH_DETAILS: 'subnet',
  QUOTA_EXCEEDED: 'quota',
  quotaExceeded: 'quota',
  UNSUPPORTED_OPERATION: 'unsupported',
  INVALID_USAGE: 'unsupported',
  RESOURCE_NOT_FOUND: missing,
  notFound: missing,
  invalid: malformed,
  badRequest: malformed,
  required: slow,
  parseError: slow,
  authError: unauthorized,
  forbidden,
  accessNotConfigured: unauthorized,
  SERVICE_DISABLED: unauthorized,
  NoCredentials: unauthorized,
  PERMISSIONS_ERROR: unauthorized,
  rateLimitExceeded: throttled,
  userRateLimitExceeded: throttled,
  RATE_LIMIT_EXCEEDED: throttled,
  OPERATION_CANCELED_BY_USER: later,
  CONFLICT: spent,
  alreadyExists: later,
  RESOURCE_ALREADY_EXISTS: later,
  resourceNotReady: later,
  RESOURCE_NOT_READY: later,
  conditionNotMet: precondition,
  CONDITION_NOT_MET: precondition,
  resourceInUseByAnotherResource: later,
  backendError: unknown,
  internalError: unknown,
  INTERNAL_ERROR: unknown,
  Unanswered: unknown,
  TokenUnanswered: away,
};

/** A call's error as a refusal; errors of other kinds are mistakes of ours and stay what they are. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof GoogleError)) throw error;
  const { reason, message, status, facts } = error;
  const named = facts['quota_metric'] ?? facts['metricName'];
  return { code: reason, message, status, metric: metricFrom(message, named), cause: error };
}

/** What an operation failed of; undefined for one that went well, or is not done. */
export function refusalIn({ error }: Operation): Refusal | undefined {
  const [first] = error?.errors ?? [];
  if (!first) return undefined;
  const { code = 'Unknown', message = '' } = first;
  return { code, message, status: undefined, metric: metricOf(first), cause: first };
}

/** What ran out, when it says that there was no room; else undefined. */
export function shortageOf(refusal: Refusal): Shortage | undefined {
  const meaning = meaningOf(refusal);
  if (typeof meaning === 'string') return meaning;
  return isRefusedSize(refusal) ? 'unsupported' : undefined;
}

/**
 * A refusal as the rest of the program sees it: who acts next, and one sentence with the code first, since conditions
 * and events may be cut.
 *
 * @param doing  what was tried, as the beginning of a sentence: `Starting n2-standard-8 in europe-west1-b`
 */
export function toMachineError(refusal: Refusal, doing: string): MachineError {
  const { code, message, cause } = refusal;
  const text = `${doing}: ${code}: ${message.slice(0, 500)}`;
  const shortage = shortageOf(refusal);
  if (shortage) {
    return new InsufficientCapacity(text, shortage === 'quota' ? 'quota' : 'capacity', { cause });
  }
  const meaning = meaningOf(refusal);
  return typeof meaning === 'function' ? meaning(refusal, text) : slow(refusal, text);
}

/** The failure of a call whose caller has nothing of its own to do about it. */
export function failed(error: unknown, doing: string): MachineError {
  return error instanceof MachineError ? error : toMachineError(refusalOf(error), doing);
}

/** The failure of a delete; one that is refused by a protection waits for a person. */
export function refusedEnd(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  const refusal = refusalOf(error);
  if (/protected against deletion|deletion ?protection/i.test(refusal.message)) {
    return new TerminationRefused(`${doing}: ${refusal.code}: ${refusal.message}`, {
      cause: error,
    });
  }
  return toMachineError(refusal, doing);
}

function meaningOf({ code, status = 400 }: Refusal): Meaning {
  const known = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  if (known !== undefined) return known;
  if (status === 401) return unauthorized;
  if (status === 403) return forbidden;
  if (status === 429) return throttled;
  return status === 0 || status === 408 || status >= 500 ? unknown : slow;
}

/** What does not exist is a size in this zone, or a part of the node class. */
function missing(refusal: Refusal, text: string): MachineError {
  const { message, cause } = refusal;
  const parts: readonly (readonly [pattern: RegExp, fault: Fault])[] = [
    [/\/images\//, faults.imageNotFound],
    [/\/subnetworks\//, faults.subnetsNotFound],
    [/\/networks\//, faults.placementRefused],
    [/\/projects\/|^The resource 'projects\/[^/]+'/, faults.placementRefused],
  ];
  const [, fault] = parts.find(([pattern]) => pattern.test(message)) ?? [];
  return fault ? new NodeClassError(fault, text, { cause }) : slow(refusal, text);
}

/** A service account that is wrong is refused as a malformed call. */
function malformed(refusal: Refusal, text: string): MachineError {
  const { message, cause } = refusal;
  if (/serviceAccount/i.test(message)) {
    return new NodeClassError(faults.placementRefused, text, { cause });
  }
  return slow(refusal, text);
}

/** Deleted while it was made: this attempt has come to its end. */
function spent({ cause }: Refusal, text: string): MachineError {
  return new AttemptSpent(text, { cause });
}

/** What an organisation's policy forbids no role allows: the node class, or the policy, has to change. */
function forbidden(refusal: Refusal, text: string): MachineError {
  return policyIn(refusal, text) ?? unauthorized(refusal, text);
}

/** An organisation's policy stays; a fingerprint or a state that has moved on is looked at again. */
function precondition(refusal: Refusal, text: string): MachineError {
  return policyIn(refusal, text) ?? later(refusal, text);
}

/** `Constraint constraints/compute.vmExternalIpAccess violated for project …`, which names the policy. */
function policyIn({ message, cause }: Refusal, text: string): NodeClassError | undefined {
  if (!/constraints\//.test(message)) return undefined;
  return new NodeClassError(faults.placementRefused, text, { cause });
}

/** Nothing but trying tells whether a size takes the nested flag or a kind of disk, or is sold in a zone. */
function isRefusedSize({ code, message }: Refusal): boolean {
  if (['RESOURCE_NOT_FOUND', 'notFound'].includes(code)) return /\/machineTypes\//.test(message);
  if (!['invalid', 'badRequest', 'UNSUPPORTED_OPERATION'].includes(code)) return false;
  return /nested virtualization|machine type with name|features are not compatible/i.test(message);
}

function metricOf({ message = '', errorDetails = [] }: OperationError): string | undefined {
  const said = errorDetails.map(
    ({ quotaInfo, errorInfo }) => quotaInfo?.metricName ?? errorInfo?.metadatas?.['metricName'],
  );
  return metricFrom(
    message,
    said.find((one) => one !== undefined),
  );
}

/**
 * By the message, which has its short name: `Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region europe-west1.` Details
 * say the same as `compute.googleapis.com/n2_cpus`.
 */
function metricFrom(message: string, named: string | undefined): string | undefined {
  const inWords = /Quota '([A-Z0-9_]+)' exceeded/.exec(message)?.[1];
  return inWords ?? named?.split('/').at(-1)?.toUpperCase();
}
