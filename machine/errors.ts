import type { Code } from '#schemas/errors/codes.ts';

/**
 * What a caller does about a failure of the world outside:
 * - `try-another`: no room here; take the next candidate
 * - `same-again`: nobody knows whether it happened; repeat exactly the same call
 * - `retry`: wait a little and look again
 * - `next-attempt`: this attempt's token is spent; start a new attempt
 * - `node-class`: the node class is wrong; its condition says so and launches wait for it
 * - `slow`: only a person can help; look again every few minutes
 * - `wait`: nothing is wrong, it takes its time; look again
 */
export type Next =
  | 'try-another'
  | 'same-again'
  | 'retry'
  | 'next-attempt'
  | 'node-class'
  | 'slow'
  | 'wait';

/** Any failure that the outside world gives to the making or unmaking of a machine. */
export abstract class MachineError extends Error {
  /** Stable code of schemas/errors/codes.ts. */
  abstract readonly code: Code;
  /** UpperCamelCase, for conditions and metrics. */
  abstract readonly reason: string;
  abstract readonly next: Next;
}

/** No zone, subnet or quota had room for this size just now: try the next candidate, then give the claim up. */
export class InsufficientCapacity extends MachineError {
  readonly code: 'KPU310' | 'KPU316';
  readonly reason = 'InsufficientCapacityError';
  readonly next = 'try-another';

  /** @param of  what ran out: the cloud's machines, or the quota of the account, so that nobody chases a stockout */
  constructor(message: string, of: 'capacity' | 'quota', options?: ErrorOptions) {
    super(message, options);
    this.code = of === 'quota' ? 'KPU316' : 'KPU310';
  }
}

/** The cloud did not say whether it acted (5xx, reset, timeout): the same call with the same token finds out. */
export class OutcomeUnknown extends MachineError {
  readonly code = 'KPU314';
  readonly reason = 'OutcomeUnknown';
  readonly next = 'same-again';
}

/**
 * Nothing was sent: several calls in a row got no answer, so it is not asked again for a while; or whoever gives the
 * operator its credentials for the cloud does not answer.
 */
export class CloudUnreachable extends MachineError {
  readonly code = 'KPU215';
  readonly reason = 'CloudUnreachable';
  readonly next = 'retry';
}

/** The cloud has taken the launch and is about it; only when it is done is it known whether there is room. */
export class LaunchUnderWay extends MachineError {
  readonly code = 'KPU335';
  readonly reason = 'LaunchUnderWay';
  readonly next = 'wait';
}

/**
 * The cloud could not ask all its zones, or listed nothing where there is always something, so that what is absent from
 * its list may well be there.
 */
export class ListIncomplete extends MachineError {
  readonly code = 'KPU336';
  readonly reason = 'ListIncomplete';
  readonly next = 'retry';
}

/** Too many calls to one API of the account, ours or another program's. Says nothing about capacity. */
export class Throttled extends MachineError {
  readonly code = 'KPU313';
  readonly reason = 'Throttled';
  readonly next = 'retry';
}

/** The operator's own credentials are missing or may not do this; no other candidate would fare better. */
export class Unauthorized extends MachineError {
  readonly code = 'KPU311';
  readonly reason = 'Unauthorized';
  readonly next = 'slow';
}

/** This attempt's token belongs to an instance that has ended, or to other parameters: a new attempt gets a new one. */
export class AttemptSpent extends MachineError {
  readonly code = 'KPU315';
  readonly reason = 'AttemptSpent';
  readonly next = 'next-attempt';
}

/** A refusal that is none of the others, in the cloud's own words. `reason` is the cloud's code. */
export class CreateError extends MachineError {
  readonly code = 'KPU312';
  readonly reason: string;
  readonly next: 'retry' | 'slow';

  constructor(reason: string, message: string, next: 'retry' | 'slow', options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.next = next;
  }
}

/** The user data is larger than clouds take; only a smaller node class or Secret helps. */
export class UserDataTooLarge extends MachineError {
  readonly code = 'KPU317';
  readonly reason = 'UserDataTooLarge';
  readonly next = 'slow';
}

/** The cloud will not end this instance, most often for its termination protection: a person has to lift that. */
export class TerminationRefused extends MachineError {
  readonly code = 'KPU331';
  readonly reason = 'TerminationRefused';
  readonly next = 'slow';
}

/** A name of this machine exists in the zone and is not ours; it is never overwritten. */
export class DnsConflict extends MachineError {
  readonly code = 'KPU323';
  readonly reason = 'DNSConflict';
  readonly next = 'slow';
}

/** The DNS service, or a server that resolves names, did not answer or is busy. */
export class DnsUnavailable extends MachineError {
  readonly code = 'KPU332';
  readonly reason = 'DNSUnavailable';
  readonly next = 'retry';
}

/** The platform does not answer (yet), or not as its API should; machines do so while they boot. */
export class PlatformUnavailable extends MachineError {
  readonly code = 'KPU324';
  readonly reason = 'PlatformUnavailable';
  readonly next = 'retry';
}

/** The platform answers and refuses the token that its user data gave it: another program, or a broken image. */
export class PlatformUnauthorized extends MachineError {
  readonly code = 'KPU325';
  readonly reason = 'PlatformUnauthorized';
  readonly next = 'slow';
}

/** The platform's user has no quotas (it is a root user), so Kraftlet would advertise an empty Node. */
export class PlatformQuotasMissing extends MachineError {
  readonly code = 'KPU326';
  readonly reason = 'PlatformQuotasMissing';
  readonly next = 'slow';
}

/** Whoever signs the machine's certificate is about it; it takes seconds to minutes. */
export class CertificatePending extends MachineError {
  readonly code = 'KPU363';
  readonly reason = 'CertificatePending';
  readonly next = 'wait';
}

/** Whoever signs the machine's certificate would not, or gave what cannot serve; most often a person has to act. */
export class CertificateFailed extends MachineError {
  readonly code = 'KPU364';
  readonly reason = 'CertificateFailed';
  readonly next = 'slow';
}

/** The authority, or our own count of what it allows, has no room for one more certificate now. */
export class CertificateLimited extends MachineError {
  readonly code = 'KPU365';
  readonly reason = 'CertificatesLimited';
  readonly next = 'slow';
}

/** Conditions of a node class that a {@link NodeClassError} can make False. */
export type NodeClassPart =
  | 'ValidationSucceeded'
  | 'CredentialsReady'
  | 'ImageReady'
  | 'PlacementReady'
  | 'DNSReady'
  | 'CertificateReady'
  | 'KraftletReady';

/** The node class asks for what cannot be had; `condition` says which part of it, `message` what to change. */
export class NodeClassError extends MachineError {
  readonly code: Code;
  readonly condition: NodeClassPart;
  readonly reason: string;
  readonly next = 'node-class';
  /** What is missing can come while the spec stays as it is. */
  readonly canPass: boolean;

  constructor(
    fault: { code: Code; condition: NodeClassPart; reason: string; canPass?: true },
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.canPass = fault.canPass ?? false;
    this.code = fault.code;
    this.condition = fault.condition;
    this.reason = fault.reason;
  }
}
