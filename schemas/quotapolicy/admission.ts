/**
 * UnikraftQuotaPolicies at a write, as ValidatingAdmissionPolicies that take them as parameters: the API server itself
 * knows them, where a webhook could only look them up and be late.
 *
 * One policy and binding per enforcement, since what a failure comes to is fixed in the binding. Each looks at every
 * UnikraftQuotaPolicy and passes over those of another enforcement. All of them let pass what they cannot judge: the
 * controller holds the ceilings in any case. Only the object that is written is judged; sums are the controller's.
 */
import { group, nodeClassKind } from '../names.ts';
import type { UnikraftQuotaPolicySpec } from './types.ts';

export type Enforcement = UnikraftQuotaPolicySpec['enforcement'];

export const enforcements: readonly Enforcement[] = ['Deny', 'Cap', 'Warn', 'Audit'];

/** Name of the policy and of its binding. */
export function quotaPolicyName(enforcement: Enforcement): string {
  return `karpenter-unikraft-quota-${enforcement.toLowerCase()}`;
}

/** What a failure comes to; a Cap or Warn is told to whoever writes and noted for whoever asks later. */
const actions: Record<Enforcement, readonly string[]> = {
  Deny: ['Deny'],
  Cap: ['Warn', 'Audit'],
  Warn: ['Warn', 'Audit'],
  Audit: ['Audit'],
};

/** Said after the value and the ceiling; `CEILING` is the ceiling. Short, since a warning is cut at 256 characters. */
const endings: Record<Enforcement, string> = {
  Deny: `'; lower it, or have the policy raised (KPU170)'`,
  Cap: `'; ' + CEILING + ' is used (KPU171)'`,
  Warn: `'; it is only told (KPU172)'`,
  Audit: `'; it is only told (KPU172)'`,
};

interface Field {
  readonly kind: 'NodePool' | typeof nodeClassKind;
  readonly name: string;
}

const fields: readonly Field[] = [
  ...['cpu', 'memory', 'nodes'].map((name) => ({ kind: 'NodePool', name }) as const),
  ...['vcpus', 'memory', 'volumeStorage', 'instances'].map(
    (name) => ({ kind: nodeClassKind, name }) as const,
  ),
];

/** The policy and its binding for one enforcement. */
export function quotaAdmission(enforcement: Enforcement): object[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: quotaPolicyName(enforcement) };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Ignore',
        paramKind: { apiVersion: `${group}/v1alpha1`, kind: 'UnikraftQuotaPolicy' },
        matchConstraints,
        matchConditions: [
          { name: 'enforcement', expression: `params.spec.enforcement == '${enforcement}'` },
          ...matchConditions,
        ],
        variables,
        validations: fields.map((field) => validationOf(field, enforcement)),
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: metadata.name,
        paramRef: { selector: {}, parameterNotFoundAction: 'Allow' },
        validationActions: actions[enforcement],
      },
    },
  ];
}

const operations = ['CREATE', 'UPDATE'];

/** Spelled out with what the API server would fill in, so that what is read back is what was applied. */
const matchConstraints = {
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: ['karpenter.sh'],
      apiVersions: ['v1'],
      operations,
      resources: ['nodepools'],
      scope: '*',
    },
    {
      apiGroups: [group],
      apiVersions: ['v1alpha1'],
      operations,
      resources: ['unikraftnodeclasses'],
      scope: '*',
    },
  ],
};

const isPool = `object.kind == 'NodePool'`;
const ref = 'dyn(object).spec.template.spec.nodeClassRef';

const matchConditions = [
  {
    name: 'spec-is-new',
    expression: `request.operation == 'CREATE' || object.spec != oldObject.spec`,
  },
  {
    name: 'ours',
    expression: lines(
      `object.kind == '${nodeClassKind}'`,
      `  || ${isPool} && ${ref}.group == '${group}' && ${ref}.kind == '${nodeClassKind}'`,
    ),
  },
  {
    name: 'node-class-is-selected',
    expression: lines(
      '!has(params.spec.selector) || !has(params.spec.selector.nodeClasses)',
      `  || (${isPool} ? ${ref}.name : object.metadata.name) in params.spec.selector.nodeClasses`,
    ),
  },
  {
    // Which pools use a node class is not known here; a policy that selects pools leaves node classes to the controller.
    name: 'node-pool-is-selected',
    expression: lines(
      '!has(params.spec.selector) || !has(params.spec.selector.nodePools) || (',
      `  ${isPool}`,
      '  && (!has(params.spec.selector.nodePools.names)',
      '    || object.metadata.name in params.spec.selector.nodePools.names)',
      '  && (!has(params.spec.selector.nodePools.matchLabels)',
      '    || has(object.metadata.labels) && params.spec.selector.nodePools.matchLabels.all(key,',
      '      key in object.metadata.labels',
      '      && object.metadata.labels[key] == params.spec.selector.nodePools.matchLabels[key])))',
    ),
  },
];

/** What is asked for, before and now, by name. */
const variables = [
  { name: 'limits', expression: limitsIn('object', isPool) },
  {
    name: 'oldLimits',
    expression: limitsIn('oldObject', `request.operation == 'UPDATE' && ${isPool}`),
  },
  { name: 'capacity', expression: capacityIn('object', `!(${isPool})`) },
  {
    name: 'oldCapacity',
    expression: capacityIn('oldObject', `request.operation == 'UPDATE' && !(${isPool})`),
  },
];

function limitsIn(root: string, condition: string): string {
  return `${condition} && has(dyn(${root}).spec.limits) ? dyn(${root}).spec.limits : dyn({})`;
}

function capacityIn(root: string, condition: string): string {
  const platform = `dyn(${root}).spec.platform`;
  return lines(
    `${condition} && has(${platform}) && has(${platform}.capacity)`,
    `  ? ${platform}.capacity : dyn({})`,
  );
}

/**
 * A value that the update leaves as it was is let through, whatever it is: a ceiling that was lowered since must not
 * keep people from changing the rest. To ask for no limit is to ask for more than any ceiling; to state no capacity,
 * or a percentage, depends on the machine, so only the controller can cap it.
 */
function validationOf({ kind, name }: Field, enforcement: Enforcement): object {
  const ofPool = kind === 'NodePool';
  const [now, old] = ofPool
    ? ['variables.limits', 'variables.oldLimits']
    : ['variables.capacity', 'variables.oldCapacity'];
  const ceilings = `params.spec.ceilings.${ofPool ? 'perNodePool' : 'perMachine'}`;
  const ceiling = `string(${ceilings}.${name})`;
  const value = `string(${now}.${name})`;
  const isWithin = `!quantity(${value}).isGreaterThan(quantity(${ceiling}))`;
  const path = ofPool ? `spec.limits.${name}` : `spec.platform.capacity.${name}`;
  const asked = ofPool ? `(has(${now}.${name}) ? ${value} : 'no limit')` : value;
  return {
    expression: lines(
      ofPool ? `!(${isPool})` : isPool,
      `  || !has(${ceilings}) || !has(${ceilings}.${name})`,
      `  || request.operation == 'UPDATE' && has(${now}.${name}) == has(${old}.${name})`,
      `    && (!has(${now}.${name}) || ${now}.${name} == ${old}.${name})`,
      ofPool
        ? `  || has(${now}.${name}) && ${isWithin}`
        : `  || !has(${now}.${name}) || ${value}.endsWith('%') || ${isWithin}`,
    ),
    messageExpression: lines(
      `'${path}: ' + ${asked} + ' is more than the ' + ${ceiling} + ' that UnikraftQuotaPolicy '`,
      `  + params.metadata.name + ' allows a ${ofPool ? 'NodePool' : 'machine'}'`,
      `  + ${endings[enforcement].replace('CEILING', ceiling)}`,
    ),
    message: `${path} is above a ceiling of a UnikraftQuotaPolicy`,
    reason: 'Invalid',
  };
}

function lines(...text: string[]): string {
  return text.join('\n');
}
