import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';
import { onObject } from '#schemas/rules/expression.ts';
import { isInCrd } from '#schemas/rules/lint.ts';
import { concernsUsInCel } from '#schemas/rules/ours.ts';
import { alternativesOf } from '#schemas/rules/places.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import { describe, resourcesOf, type Operation, type Rule } from '#schemas/rules/rule.ts';
import { rules } from '#schemas/rules/table.ts';
import { listOf } from '#schemas/rules/text.ts';

import type { Generated } from './files.ts';
import { asDocuments } from './manifests.ts';

/**
 * The rule table as the API server's own policies, one for each kind and severity: they hold with every process of
 * ours gone. What a node class may not be stands in its CRD, which can refuse and cannot warn.
 *
 * No policy has parameters (a missing one would stop other providers' objects), none matches a deletion, and the
 * conditions keep whatever is not ours from being judged at all. The rule on a label of everybody's Pods has a policy
 * of its own, which only warns.
 */
export function policyFiles(): Generated[] {
  return (['deny', 'warn'] as const).flatMap((severity) => {
    const files = subjects
      .filter((subject) => subject.severity === severity)
      .map((subject) => ({
        path: `kustomize/policies/${severity}/${subject.name}.yaml`,
        text: asDocuments(policyOf(subject), bindingOf(subject)),
      }));
    const resources = files.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources,
    };
    const path = `kustomize/policies/${severity}/kustomization.yaml`;
    return [...files, { path, text: asDocuments(kustomization) }];
  });
}

type Severity = Rule['severity'];

/** What one policy is about. */
interface Subject {
  readonly name: string;
  readonly target: Resource;
  readonly severity: Severity;
  readonly own: readonly Rule[];
  /** Default true. */
  readonly onlyOurs?: boolean;
}

/** In the order of the table. */
const subjects: readonly Subject[] = [
  ...Map.groupBy(rules, ({ target }) => target)
    .entries()
    .flatMap(([target, own]) =>
      (['deny', 'warn'] as const).map((severity) => ({
        name: target.plural,
        target,
        severity,
        own: own.filter((rule) => rule.severity === severity && !isInCrd(rule)),
      })),
    )
    .filter(({ own }) => own.length > 0),
  {
    name: 'pod-labels',
    target: labelRule.target,
    severity: labelRule.severity,
    own: [labelRule],
    onlyOurs: false,
  },
];

const apiVersion = 'admissionregistration.k8s.io/v1';

/** As the selector of the component that takes them out again; see kustomize/components. */
const labels = {
  'app.kubernetes.io/part-of': 'karpenter-provider-unikraft',
  'app.kubernetes.io/component': 'rules',
};

function metadata({ name, severity }: Subject): KubeObject['metadata'] {
  return { name: `karpenter-unikraft-${name}-${severity}`, labels };
}

/** Every field that the API server would fill in is said, so that what is read back equals the manifest. */
function policyOf(subject: Subject): object {
  const { target, severity, own, onlyOurs = true } = subject;
  const scope = scopeOf(own);
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: metadata(subject),
    spec: {
      // A warning that cannot be worked out is no reason to keep anything out.
      failurePolicy: severity === 'deny' ? 'Fail' : 'Ignore',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: target.namespaced ? ordinaryNamespaces : {},
        objectSelector: {},
        resourceRules: resourceRules(target, own),
      },
      ...(onlyOurs && { matchConditions: conditionsOn(target, scope) }),
      ...(isOnSubresources(scope) && { variables: [subresource] }),
      validations: own.flatMap((rule) => validationsOf(rule, scope)),
    },
  };
}

function bindingOf(subject: Subject): object {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: metadata(subject),
    spec: {
      policyName: metadata(subject)?.name,
      validationActions: [subject.severity === 'deny' ? 'Deny' : 'Warn'],
    },
  };
}

/** What runs a cluster must never wait for a rule of ours. */
const ordinaryNamespaces = {
  matchExpressions: [
    {
      key: 'kubernetes.io/metadata.name',
      operator: 'NotIn',
      values: ['kube-system', 'kube-node-lease', 'karpenter-unikraft', 'kraftlet'],
    },
  ],
};

/** All that a policy is asked about, of which each of its rules may be for a part. */
interface Scope {
  readonly operations: ReadonlySet<Operation>;
  readonly resources: ReadonlySet<string>;
}

function scopeOf(own: readonly Rule[]): Scope {
  return {
    operations: new Set(own.flatMap(({ operations }) => operations)),
    resources: new Set(own.flatMap(resourcesOf)),
  };
}

/** One entry for all resources that are looked at on the same operations. */
function resourceRules({ group, version, namespaced }: Resource, own: readonly Rule[]): object[] {
  const { resources } = scopeOf(own);
  const operationsOn = (resource: string): string =>
    [...scopeOf(own.filter((rule) => resourcesOf(rule).includes(resource))).operations]
      .filter((operation) => operation === 'UPDATE' || !resource.includes('/')) // subresources are never created
      .join();
  return [...Map.groupBy(resources, operationsOn)].map(([operations, together]) => ({
    apiGroups: [group],
    apiVersions: [version],
    operations: operations.split(','),
    resources: together,
    scope: namespaced ? 'Namespaced' : 'Cluster',
  }));
}

/**
 * First whether it is ours, then whether the update touches what rules judge: labels, annotations and finalizers of an
 * object that is bad already can always be written. What was somebody else's before is judged as if it were new.
 */
function conditionsOn({ kind }: Resource, { operations }: Scope): object[] {
  const ours = (concernsUsInCel as Partial<Record<string, string>>)[kind];
  const wereOurs = ours?.replaceAll('object.', 'oldObject.');
  const changed = ['oldObject == null', 'object.spec != oldObject.spec'];
  if (wereOurs !== undefined) changed.push(`!(${wereOurs})`);
  return [
    ...(ours === undefined ? [] : [{ name: 'ours', expression: ours }]),
    ...(operations.has('UPDATE')
      ? [{ name: 'new-or-changed', expression: changed.join(' || ') }]
      : []),
  ];
}

/** A request for the object itself names no subresource. */
const subresource = {
  name: 'subresource',
  expression: "has(request.subResource) ? request.subResource : ''",
};

function isOnSubresources({ resources }: Scope): boolean {
  return [...resources].some((name) => name.includes('/'));
}

/** One validation for each name of a path's alternatives, since each says its own place. */
function validationsOf(rule: Rule, scope: Scope): object[] {
  return alternativesOf(rule.path).map((path) => ({
    expression: [...exceptions(rule, scope), onObject({ path, cel: rule.cel }, untyped)].join(
      ' || ',
    ),
    message: told({ ...rule, path }),
    ...(path.endsWith('[]') && { messageExpression: toldWithIndex({ ...rule, path }) }),
    ...(rule.severity === 'deny' && { reason: 'Invalid' }),
  }));
}

/**
 * Kubernetes checks policies against what it knows of each kind's fields, and knows too little (of containers it has no
 * `resources.limits`): its complaints, in the policy's status, would be about nothing.
 */
function untyped(value: string): string {
  return `dyn(${value})`;
}

/** When a rule is not asked, although its policy is. */
function exceptions(rule: Rule, scope: Scope): string[] {
  const { operations } = rule;
  const own = new Set(resourcesOf(rule));
  const names = [...own].map((name) => name.split('/')[1] ?? '');
  return [
    ...([...scope.operations].every((one) => operations.includes(one))
      ? []
      : [`!(request.operation in ${listOf(operations)})`]),
    ...([...scope.resources].every((one) => own.has(one))
      ? []
      : [`!(variables.subresource in ${listOf(names)})`]),
  ];
}

/** A refusal as it is told everywhere; a warning with its code first, since lines of it may be cut off. */
function told(rule: Pick<Rule, 'code' | 'path' | 'message' | 'fix' | 'severity'>): string {
  const { code, path, message, fix, severity } = rule;
  return severity === 'deny' ? describe(rule) : `${code} ${path}: ${message} ${fix}`;
}

/** With the index of the first item that breaks the rule. */
function toldWithIndex(rule: Rule): string {
  const list = rule.path.slice(0, -'[]'.length);
  const [before = '', after = ''] = told({ ...rule, path: `${list}[#]` }).split('#');
  const index = `string(${untyped(`object.${list}`)}.map(self, ${rule.cel}).indexOf(false))`;
  return `${quoted(before)} + ${index} + ${quoted(after)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
