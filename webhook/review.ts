/**
 * admission.k8s.io/v1 as JSON: what the API server asks and what it may be told.
 * Source: Kubernetes, k8s.io/api/admission/v1/types.go.
 */
import type { KubeObject } from '#schemas/kubernetes/meta.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly dryRun?: boolean;
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
}

export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/** What a hook decides, apart from how it is said on the wire. */
export interface Decision {
  readonly allowed: boolean;
  /** For a refusal: the whole sentence a person reads. */
  readonly message?: string;
  readonly code?: number;
  readonly reason?: string;
  /** At most 120 characters each, as the API server advises. */
  readonly warnings?: readonly string[];
  readonly patch?: readonly PatchOperation[];
  /** Keys without a slash; the API server puts the hook's name before them. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export const allow: Decision = { allowed: true };

/**
 * A body that is an AdmissionReview with a request that can be answered.
 * @throws TypeError that names what is missing; the answer then is 400
 */
export function requestOf(body: unknown): AdmissionRequest {
  const review = body as { kind?: unknown; request?: AdmissionRequest } | null | undefined;
  if (review?.kind !== 'AdmissionReview') throw new TypeError('the body is no AdmissionReview');
  const { request } = review;
  if (typeof request?.uid !== 'string' || typeof request.operation !== 'string') {
    throw new TypeError('the AdmissionReview has no request with uid and operation');
  }
  return request;
}

/** The answer as the API server reads it. A patch and its type come together or not at all. */
export function responseTo({ uid }: Pick<AdmissionRequest, 'uid'>, decision: Decision): object {
  const { allowed, message, code = 403, reason = 'Forbidden', patch } = decision;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(!allowed && { status: { code, reason, message } }),
      ...(decision.warnings?.length && { warnings: decision.warnings }),
      ...(decision.auditAnnotations && { auditAnnotations: decision.auditAnnotations }),
      ...(patch?.length && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      }),
    },
  };
}
