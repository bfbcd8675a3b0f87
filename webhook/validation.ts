/** Puts Karpenter's objects that are aimed at our node class through the rule table; every other object passes. */
import type { Status } from '#schemas/kubernetes/meta.ts';
import { describe, violations, type Violation } from '#schemas/rules/evaluate.ts';

import { allow, warning, type AdmissionRequest, type Decision } from './review.ts';

/** The validating hook's decision. Deletions always pass: nothing may keep a mistake from being removed. */
export function validate(request: AdmissionRequest): Decision {
  const { operation, object, oldObject, subResource } = request;
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return allow;
  const found = violations(object, { operation, subResource, ...(oldObject && { oldObject }) });
  const warnings = found.filter(({ severity }) => severity === 'warn').map(inShort);
  const denied = found.filter(({ severity }) => severity === 'deny');
  if (denied.length > 0) return { allowed: false, status: refusal(request, denied), warnings };
  return warnings.length > 0 ? { allowed: true, warnings } : allow;
}

/**
 * Told as the API server tells what its own schema refuses, so that kubectl prints `The NodePool "batch" is invalid:`
 * and a line for each place, and programs find the fields among the causes.
 */
function refusal({ kind, name }: AdmissionRequest, denied: readonly Violation[]): Status {
  return {
    code: 422,
    reason: 'Invalid',
    message: denied.map((violation) => describe(violation)).join(' '),
    details: {
      group: kind.group,
      kind: kind.kind,
      name: name ?? '',
      causes: denied.map(({ path, message, fix, code }) => ({
        reason: 'FieldValueInvalid',
        field: path,
        message: `${message} ${fix} (${code})`,
      })),
    },
  };
}

function inShort({ code, path, message }: Violation): string {
  return warning(`${code} ${path}: ${message}`);
}
