import type { Manifest } from '#sandbox/manifests/render.ts';
import type { Rule } from '#schemas/rules/rule.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

/** A rule as the API server's own policy, so that Kubernetes' CEL judges it too. */
export function policyFor(rule: Rule): Manifest[] {
  const { name, message, operations, target } = rule;
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [target.group],
            apiVersions: [target.version],
            operations,
            resources: [target.plural],
          },
        ],
      },
      validations: [{ expression: expressionOf(rule), message }],
    },
  };
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  return [policy, binding];
}

/** `self` becomes the item of a list, or of a list of one; a place that is absent is not judged. */
function expressionOf({ path, cel }: Rule): string {
  const place = path.replace(/\[\]$/, '');
  const steps = place.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'));
  const isThere = steps.map((step) => `has(object.${step})`).join(' && ');
  const values = path.endsWith('[]') ? `object.${place}` : `[object.${place}]`;
  return `!(${isThere}) || ${values}.all(self, ${cel})`;
}
