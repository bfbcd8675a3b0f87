/** Puts Karpenter's objects that are aimed at our node class through the rule table; every other object passes. */
import type { Status } from '#schemas/kubernetes/meta.ts';
import { withCounts, type CountMachines } from '#schemas/rules/change.ts';
import { describe, violations, type Violation } from '#schemas/rules/evaluate.ts';
import { concernsUs } from '#schemas/rules/ours.ts';
import { labelViolations } from '#schemas/rules/pod/label.ts';

import { allow, warning, type AdmissionRequest, type Decision } from './review.ts';

/**
 * The validating hook's decision. Deletions always pass: nothing may keep a mistake from being removed.
 *
 * @param machines counts what a change would replace; without counts the warning is the plain one
 */
export function validate(request: AdmissionRequest, machines: CountMachines = uncounted): Decision {
  const { operation, object, oldObject, subResource } = request;
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return allow;
  const broken = [
    ...violations(object, { operation, subResource, ...(oldObject && { oldObject }) }),
    ...labelViolations(object, { operation, subResource }),
  ];
  // A pool that was another provider's has machines of that provider's, which nobody here counts.
  const found = withCounts(broken, () => (concernsUs(oldObject) ? machines(object) : undefined));
  const warnings = found.filter(({ severity }) => severity === 'warn').map(inShort);
  const denied = found.filter(({ severity }) => severity === 'deny');
  if (denied.length > 0) return { allowed: false, status: refusal(request, denied), warnings };
  return warnings.length > 0 ? { allowed: true, warnings } : allow;
}

const uncounted: CountMachines = () => undefined;

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
