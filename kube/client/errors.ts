/**
 * What can go wrong between us and the API server. Callers branch on the predicates, never on texts.
 */
import type { Status } from '#schemas/kubernetes/meta.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

/** Which call failed. */
export interface Call {
  /** HTTP method. */
  readonly verb: string;
  /** Path without the query. */
  readonly path: string;
}

/** What an answer said beside its body. */
export interface Answer {
  readonly code: number;
  /** The Audit-Id header: finds the call in the API server's audit log. */
  readonly requestId?: string | undefined;
  readonly retryAfter?: Duration | undefined;
}

/**
 * The API server (or what stands before it) refused a call.
 *
 * `reason` is that of the Status, such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`, `Invalid`; a body that
 * is no Status, as a proxy sends, gives the reason that belongs to its code.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  /** The server's own sentence, for conditions and events; `message` has the call with it, for logs. */
  readonly text: string;
  readonly details: Status['details'];
  readonly verb: string;
  readonly path: string;
  readonly requestId: string | undefined;
  /** How long the server asks to wait. */
  readonly retryAfter: Duration | undefined;

  constructor(call: Call, answer: Answer, status: Status) {
    const reason = status.reason || (reasons[answer.code] ?? 'Unknown');
    const text = status.message || `HTTP ${answer.code}`;
    const id = answer.requestId === undefined ? '' : `, request ${answer.requestId}`;
    super(`${call.verb} ${call.path}: ${text} (${answer.code} ${reason}${id})`);
    this.code = answer.code;
    this.reason = reason;
    this.text = text;
    this.details = status.details;
    this.verb = call.verb;
    this.path = call.path;
    this.requestId = answer.requestId;
    this.retryAfter = answer.retryAfter ?? retryAfterOf(status);
  }

  /** From the text of a refused call's body. */
  static fromBody(call: Call, answer: Answer, body: string): ApiError {
    return new ApiError(call, answer, parseStatus(body) ?? { message: body.slice(0, 500).trim() });
  }

  /** From the object of an ERROR event in a watch; its code counts, since the watch itself was answered with 200. */
  static fromEvent(call: Call, object: unknown): ApiError {
    const status = isStatus(object) ? object : { message: 'watch error without a Status' };
    return new ApiError(call, { code: status.code ?? 500 }, status);
  }
}

/** The API server could not be asked, or its answer was cut off: nothing is known of what it did. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly verb: string;
  readonly path: string;
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`, …; empty when the cause has none. */
  readonly code: string;

  constructor(call: Call, cause: unknown) {
    const text = cause instanceof Error && cause.message !== '' ? cause.message : codeOf(cause);
    super(`${call.verb} ${call.path}: no answer from the API server: ${text}`, { cause });
    this.verb = call.verb;
    this.path = call.path;
    this.code = codeOf(cause);
  }

  /** True when no byte of the call can have reached the server, so that even a create may be tried again. */
  get neverSent(): boolean {
    return neverSentCodes.has(this.code);
  }
}

/** The server sent something that is not JSON where it must be. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
  readonly verb: string;
  readonly path: string;

  constructor(call: Call, text: string, cause: unknown) {
    super(`${call.verb} ${call.path}: not JSON: ${JSON.stringify(text.slice(0, 120))}`, { cause });
    this.verb = call.verb;
    this.path = call.path;
  }
}

export const isNotFound = (error: unknown): error is ApiError => hasReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasReason(error, 'AlreadyExists');
/** Somebody else wrote first, or a precondition (resourceVersion, UID) does not hold. */
export const isConflict = (error: unknown): error is ApiError => hasReason(error, 'Conflict');
/** The resourceVersion or continue token is too old: list again. */
export const isGone = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
export const isInvalid = (error: unknown): error is ApiError => hasReason(error, 'Invalid');
export const isForbidden = (error: unknown): error is ApiError => hasReason(error, 'Forbidden');
/** For an eviction this means that a PodDisruptionBudget does not allow it now. */
export const isTooManyRequests = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 429;

/** An eviction that a PodDisruptionBudget holds back: waiting is the caller's business, since it may take hours. */
export function isBlockedByBudget(error: unknown): boolean {
  const causes = error instanceof ApiError ? error.details?.causes : undefined;
  return causes?.some(({ reason }) => reason === 'DisruptionBudget') ?? false;
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}

/** Source: k8s.io/apimachinery/pkg/api/errors, the reasons that belong to codes. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const neverSentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function retryAfterOf(status: Status): Duration | undefined {
  const wait = status.details?.retryAfterSeconds;
  return wait === undefined || wait <= 0 ? undefined : seconds(wait);
}

function parseStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

function codeOf(cause: unknown): string {
  const code: unknown =
    typeof cause === 'object' && cause !== null && 'code' in cause && cause.code;
  return typeof code === 'string' ? code : '';
}
