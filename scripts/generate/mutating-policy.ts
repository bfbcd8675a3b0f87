import { labels, taints } from '#schemas/names.ts';
import { concernsUsInCel } from '#schemas/rules/ours.ts';
import { oneLine } from '#schemas/rules/text.ts';

import type { Generated } from './files.ts';
import { asDocuments } from './manifests.ts';

/**
 * What the webhook's two mutating hooks do, as the API server's own policies (Kubernetes 1.36 and later). Tolerations
 * and node selectors are atomic, so only a JSON patch can add to them; each is guarded for what is there already, and
 * a second call adds nothing.
 */
export function mutatingPolicyFiles(): Generated[] {
  const path = 'kustomize/components/mutating-policy/policies.yaml';
  return [
    { path, text: asDocuments(...hooks.flatMap((hook) => [policyOf(hook), bindingOf(hook)])) },
  ];
}

interface Hook {
  readonly name: string;
  readonly namespaces: readonly object[];
  readonly conditions: readonly object[];
}

const { key, value, effect } = taints.kraftlet;
const selector = labels.virtualKubelet;
const apiVersion = 'admissionregistration.k8s.io/v1';

const ordinary = {
  key: 'kubernetes.io/metadata.name',
  operator: 'NotIn',
  values: ['kube-system', 'kube-node-lease', 'karpenter-unikraft', 'kraftlet'],
};

/** As configured for the webhook: a Pod's own wish, and the wish of its namespace. */
const hooks: readonly Hook[] = [
  {
    name: 'karpenter-unikraft-pods',
    namespaces: [ordinary],
    conditions: [{ name: 'opted-in', expression: concernsUsInCel.Pod }],
  },
  {
    name: 'karpenter-unikraft-pods-of-namespace',
    namespaces: [{ key: labels.inject, operator: 'In', values: ['true'] }, ordinary],
    conditions: [],
  },
];

/** "false" wins over every way in; the rest is somebody else's to place, or nothing that a Kraftlet can run. */
const leftAlone = [
  {
    name: 'not-opted-out',
    expression:
      oneLine(`!has(object.metadata.labels) || !('${labels.inject}' in object.metadata.labels)
      || object.metadata.labels['${labels.inject}'] != 'false'`),
  },
  {
    name: 'not-a-mirror',
    expression: oneLine(`!has(object.metadata.annotations)
      || !('kubernetes.io/config.mirror' in object.metadata.annotations)`),
  },
  {
    name: 'not-of-a-daemon-set',
    expression: oneLine(`!has(object.metadata.ownerReferences)
      || !object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet')`),
  },
  {
    name: 'not-bound',
    expression: "!has(object.spec.nodeName) || object.spec.nodeName == ''",
  },
  {
    name: 'without-the-host',
    expression: '!has(object.spec.hostNetwork) || !object.spec.hostNetwork',
  },
  {
    name: 'not-windows',
    expression: oneLine(`(!has(object.spec.os) || object.spec.os.name != 'windows')
      && (!has(object.spec.nodeSelector) || !('${labels.os}' in object.spec.nodeSelector)
      || object.spec.nodeSelector['${labels.os}'] != 'windows')`),
  },
  {
    name: 'not-for-other-nodes',
    expression:
      oneLine(`!has(object.spec.nodeSelector) || !('${selector}' in object.spec.nodeSelector)
      || object.spec.nodeSelector['${selector}'] == 'true'`),
  },
];

const addSelector = oneLine(`
  !has(object.spec.nodeSelector)
  ? [JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {'${selector}': 'true'}}]
  : '${selector}' in object.spec.nodeSelector ? []
  : [JSONPatch{op: 'add', path: '/spec/nodeSelector/' + jsonpatch.escapeKey('${selector}'), value: 'true'}]`);

const toleration = `{'key': '${key}', 'operator': 'Equal', 'value': '${value}', 'effect': '${effect}'}`;

/** As the scheduler sees it: without effect all effects, without key all keys; an operator that is absent is Equal. */
const covers = `(!has(t.effect) || t.effect in ['', '${effect}'])
  && (has(t.operator) && t.operator == 'Exists'
  ? !has(t.key) || t.key in ['', '${key}']
  : (!has(t.operator) || t.operator in ['', 'Equal'])
  && has(t.key) && t.key == '${key}' && has(t.value) && t.value == '${value}')`;

const addToleration = oneLine(`
  !has(object.spec.tolerations)
  ? [JSONPatch{op: 'add', path: '/spec/tolerations', value: [${toleration}]}]
  : object.spec.tolerations.exists(t, ${covers}) ? []
  : [JSONPatch{op: 'add', path: '/spec/tolerations/-', value: ${toleration}}]`);

function metadata({ name }: Hook): object {
  return {
    name,
    labels: {
      'app.kubernetes.io/part-of': 'karpenter-provider-unikraft',
      'app.kubernetes.io/component': 'injection',
    },
  };
}

function policyOf(hook: Hook): object {
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: metadata(hook),
    spec: {
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'IfNeeded',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: { matchExpressions: hook.namespaces },
        objectSelector: {},
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['pods'],
            scope: 'Namespaced',
          },
        ],
      },
      matchConditions: [...leftAlone, ...hook.conditions],
      mutations: [addSelector, addToleration].map((expression) => ({
        patchType: 'JSONPatch',
        jsonPatch: { expression },
      })),
    },
  };
}

function bindingOf(hook: Hook): object {
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: metadata(hook),
    spec: { policyName: hook.name },
  };
}
