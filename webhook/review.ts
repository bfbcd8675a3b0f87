/**
 * admission.k8s.io/v1 as JSON: what the API server asks and what it may be told.
 * Source: Kubernetes, k8s.io/api/admission/v1/types.go.
 */
import type { KubeObject, Status } from '#schemas/kubernetes/meta.ts';

import { Refusal } from './refusal.ts';

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';
const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: (typeof operations)[number];
  /** Empty or absent when the server is yet to make it from generateName. */
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly dryRun?: boolean;
  /** Null on DELETE. Whatever was sent: nothing is known of its shape. */
  readonly object?: KubeObject | null;
  /** Null on CREATE. */
  readonly oldObject?: KubeObject | null;
}

/** Hooks here only ever add. */
export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

interface Remarks {
  /** At most 120 characters each, as the API server advises. */
  readonly warnings?: readonly string[];
  /** Keys without a slash; the API server puts the hook's name before them. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** What a hook decides, apart from how it is said on the wire. */
export type Decision = Remarks &
  (
    | { readonly allowed: true; readonly patch?: readonly PatchOperation[] }
    | { readonly allowed: false; readonly status: Status }
  );

export const allow: Decision = { allowed: true };

/**
 * The request in the body of a call.
 *
 * @throws Refusal 400 that says what is missing, without any of what was sent
 */
export function requestOf(body: Buffer): AdmissionRequest {
  const review = parse(body);
  if (!isRecord(review) || review['kind'] !== kind || review['apiVersion'] !== apiVersion) {
    throw new Refusal(400, `the body must be an ${kind} of ${apiVersion}`);
  }
  const { request } = review;
  if (!isRequest(request)) throw new Refusal(400, 'the request needs uid, kind and operation');
  return request;
}

interface Response {
  uid: string;
  allowed: boolean;
  status?: Status;
  patchType?: 'JSONPatch';
  patch?: string;
  warnings?: readonly string[];
  auditAnnotations?: Readonly<Record<string, string>>;
}

/**
 * The answer as the API server reads it. A patch and its type come together or not at all.
 *
 * Filled in place: to spread parts into one another took as long as the decision.
 */
export function answerTo({ uid }: Pick<AdmissionRequest, 'uid'>, decision: Decision): object {
  const { warnings, auditAnnotations } = decision;
  const response: Response = { uid, allowed: decision.allowed };
  if (!decision.allowed) response.status = decision.status;
  else if (decision.patch?.length) {
    response.patchType = 'JSONPatch';
    response.patch = Buffer.from(JSON.stringify(decision.patch)).toString('base64');
  }
  if (warnings?.length) response.warnings = warnings;
  if (auditAnnotations) response.auditAnnotations = auditAnnotations;
  return { apiVersion, kind, response };
}

/**
 * Values that one body may have. Two objects of 3 MiB have a few hundred thousand; empty ones by the million fit into
 * 7 MiB as well, and would take more memory than there is.
 */
const mostValues = 1_000_000;

function parse(body: Buffer): unknown {
  if (body.length > mostValues && valuesIn(body) > mostValues) {
    throw new Refusal(413, 'the body has too many values');
  }
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'the body is not JSON'); // the parser's own words quote the body
  }
}

/** About: commas and brackets in texts count too. */
function valuesIn(body: Buffer): number {
  let count = 0;
  for (const byte of body) if (byte === 0x2c || byte === 0x7b || byte === 0x5b) count += 1;
  return count;
}

function isRequest(value: unknown): value is AdmissionRequest {
  if (!isRecord(value) || typeof value['uid'] !== 'string' || value['uid'] === '') return false;
  const of = value['kind'];
  if (!isRecord(of) || typeof of['kind'] !== 'string') return false;
  return operations.some((operation) => operation === value['operation']);
}

/** Any JSON object, as opposed to a list, a bare value or null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the API server advises for one warning; what is longer it may cut wherever it likes. */
const warningLength = 120;

/** A text as a warning: cut where it is too long. */
export function warning(text: string): string {
  return text.length <= warningLength ? text : `${text.slice(0, warningLength - 1)}…`;
}
