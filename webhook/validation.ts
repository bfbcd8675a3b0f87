/** Puts Karpenter's objects that are aimed at our node class through the rule table; every other object passes. */
import { describe, violations, type Violation } from '#schemas/rules/evaluate.ts';

import { allow, type AdmissionRequest, type Decision } from './review.ts';

/** What the API server advises for one warning. */
const warningLength = 120;

/** The validating hook's decision. Deletions always pass: nothing may keep a mistake from being removed. */
export function validate({ operation, object, oldObject }: AdmissionRequest): Decision {
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return allow;
  const found = violations(object, { operation, ...(oldObject && { oldObject }) });
  const warnings = found.filter(({ severity }) => severity === 'warn').map(short);
  const denied = found.filter(({ severity }) => severity === 'deny');
  if (denied.length === 0) return warnings.length === 0 ? allow : { allowed: true, warnings };
  return {
    allowed: false,
    code: 422,
    reason: 'Invalid',
    message: denied.map((violation) => describe(violation)).join(' '),
    warnings,
  };
}

function short(violation: Violation): string {
  const text = `${violation.code} ${violation.path}: ${violation.message}`;
  return text.length <= warningLength ? text : `${text.slice(0, warningLength - 1)}…`;
}
