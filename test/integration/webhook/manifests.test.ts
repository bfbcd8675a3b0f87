import { describe, expect, inject, test } from 'vitest';

import { render, type Manifest } from '#sandbox/manifests/render.ts';
import { concernsUsInCel } from '#schemas/rules/ours.ts';
import { judgedPodsInCel } from '#schemas/rules/pod/label.ts';
import { hooks } from '#webhook/hooks.ts';

/** What can be said of the webhook's manifests without a cluster. */

interface Hook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service: { readonly path: string };
  };
  readonly failurePolicy: string;
  readonly matchPolicy: string;
  readonly namespaceSelector: { readonly matchExpressions?: readonly Expression[] };
  readonly rules: readonly {
    readonly apiGroups: string[];
    readonly resources: string[];
    readonly operations: string[];
    readonly scope: string;
  }[];
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}
interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const { kubectl } = inject('tools');
const manifests = [
  ...(await render(kubectl, 'kustomize/webhook')),
  ...(await render(kubectl, 'kustomize/rbac')),
];

function find<T>(kind: string, name = 'karpenter-unikraft-webhook'): T {
  const found = manifests.find((one) => one.kind === kind && one.metadata?.name === name);
  expect(found, `${kind} ${name}`).toBeDefined();
  return found as unknown as T;
}

function hooksOf(kind: string): readonly Hook[] {
  return find<Manifest & { webhooks: Hook[] }>(kind, 'karpenter-unikraft').webhooks;
}

const mutating = hooksOf('MutatingWebhookConfiguration');
const validating = hooksOf('ValidatingWebhookConfiguration');
const all = [...mutating, ...validating];
const withoutSpaces = (text: string): string => text.replaceAll(/\s+/g, '');

describe.each(all.map((hook) => [hook.name, hook] as const))('%s', (_, hook) => {
  test('B14, B16: calls a path that there is, without side effects, in the one version that there is', () => {
    expect(Object.keys(hooks({ excludedNamespaces: [] }))).toContain(
      hook.clientConfig.service.path,
    );
    expect(hook.sideEffects).toBe('None');
    expect(hook.admissionReviewVersions).toEqual(['v1']);
    expect(hook.matchPolicy).toBe('Equivalent');
  });

  test('opens when nobody answers, and soon', () => {
    expect(hook.failurePolicy).toBe('Ignore');
    expect(hook.timeoutSeconds).toBeLessThanOrEqual(5);
  });

  test('leaves the bundle to whoever makes it', () => {
    expect(hook.clientConfig.caBundle).toBeUndefined();
  });

  test('A6, B17: names what it is for, and never what locks, events and reviews are made of', () => {
    const resources = hook.rules.flatMap((rule) => rule.resources);
    const judged = ['nodepools', 'nodeclaims', 'unikraftnodeclasses'];
    const ofPods = ['pods', 'pods/ephemeralcontainers', 'pods/resize'];
    for (const resource of resources) expect([...judged, ...ofPods]).toContain(resource);
    expect(hook.rules.flatMap((rule) => rule.operations)).not.toContain('DELETE');
  });

  test('leaves the namespaces alone that everything depends on', () => {
    const isNamespaced = hook.rules.some(({ scope }) => scope === 'Namespaced');
    const excluded = hook.namespaceSelector.matchExpressions?.filter(
      ({ operator }) => operator === 'NotIn',
    );
    expect(excluded ?? []).toEqual(
      isNamespaced
        ? [
            {
              key: 'kubernetes.io/metadata.name',
              operator: 'NotIn',
              values: ['kube-system', 'kube-node-lease', 'karpenter-unikraft', 'kraftlet'],
            },
          ]
        : [],
    );
  });
});

test('B10: Pods are changed only when they are made, and only they', () => {
  for (const { rules } of mutating) {
    expect(rules.map(({ operations, resources }) => ({ operations, resources }))).toEqual([
      { operations: ['CREATE'], resources: ['pods'] },
    ]);
  }
});

test('the API server asks about what the rules are for, by the same conditions', () => {
  const [rules, , pods] = validating;
  const conditions = (hook?: Hook) => withoutSpaces(hook?.matchConditions[0]?.expression ?? '');
  const { NodePool, NodeClaim } = concernsUsInCel;
  expect(conditions(rules)).toContain(withoutSpaces(`object.kind == 'NodePool' ? ${NodePool}`));
  expect(conditions(rules)).toContain(withoutSpaces(`: ${NodeClaim}`));
  expect(conditions(pods)).toBe(withoutSpaces(judgedPodsInCel));
});

describe('the Deployment', () => {
  const { spec } = find<{
    spec: {
      replicas: number;
      strategy: { rollingUpdate: object };
      template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    };
  }>('Deployment');
  interface PodSpec {
    readonly priorityClassName: string;
    readonly terminationGracePeriodSeconds: number;
    readonly affinity: object;
    readonly topologySpreadConstraints: readonly { readonly topologyKey: string }[];
    readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[];
  }
  const { template } = spec;

  test('loses no replica on the way to others, and keeps them apart', () => {
    expect(spec.replicas).toBe(3);
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(find<{ spec: object }>('PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
    const keys = template.spec.topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
    expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
    expect(template.spec.priorityClassName).toBe('system-cluster-critical');
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(45);
  });

  test('does not run on what it brings about', () => {
    expect(template.spec.affinity).toMatchObject({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'unikraft.com/virtual-kubelet', operator: 'DoesNotExist' }],
            },
          ],
        },
      },
    });
  });

  test('A1, A10: is reached and reaches only what the NetworkPolicy lets', () => {
    const policy = find<{
      spec: {
        podSelector: { matchLabels: object };
        policyTypes: string[];
        ingress: { ports: { port: string }[] }[];
        egress: { to: { ipBlock: { except: string[] } }[] }[];
      };
    }>('NetworkPolicy').spec;
    expect(template.metadata.labels).toMatchObject(policy.podSelector.matchLabels);
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    const open = policy.ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
    const named = template.spec.containers.flatMap(({ ports }) => ports.map(({ name }) => name));
    expect(open.toSorted()).toEqual(named.toSorted());
    const except = policy.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock.except));
    expect(except).toEqual(['169.254.169.254/32', 'fd00:ec2::254/128']);
  });
});

test('its rights are for its own objects, by name', () => {
  const { rules } = find<{
    rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  }>('ClusterRole');
  expect(rules.map(({ resourceNames, verbs }) => ({ resourceNames, verbs }))).toEqual([
    { resourceNames: ['karpenter-unikraft'], verbs: ['get', 'patch'] },
  ]);
  const { rules: own } = find<{ rules: { resourceNames?: string[]; verbs: string[] }[] }>('Role');
  expect(own.filter(({ resourceNames }) => !resourceNames).flatMap(({ verbs }) => verbs)).toEqual([
    'create', // which cannot be given by name
  ]);
});

test('of the cluster it may see machines, to count them, and nothing else', () => {
  const name = 'karpenter-unikraft-webhook-machines';
  expect(find<{ rules: object[] }>('ClusterRole', name).rules).toEqual([
    { apiGroups: ['karpenter.sh'], resources: ['nodeclaims'], verbs: ['list', 'watch'] },
  ]);
  const bindings = manifests.filter(
    ({ kind, ...rest }) =>
      kind === 'ClusterRoleBinding' && JSON.stringify(rest).includes('unikraft-webhook"'),
  );
  expect(bindings.map(({ metadata }) => metadata?.name)).toEqual([
    'karpenter-unikraft-webhook',
    name,
  ]);
});

describe('with cert-manager', () => {
  test('the webhook may write nothing, and both configurations get the bundle from the Certificate', async () => {
    const rendered = await render(kubectl, 'test/integration/webhook/with-cert-manager');
    const named = (kind: string) =>
      rendered.filter(
        (one) => one.kind === kind && one.metadata?.name?.startsWith('karpenter-unikraft-webhook'),
      );
    const roles = [...named('Role'), ...named('ClusterRole')] as unknown as {
      rules: { verbs: string[] }[];
    }[];
    const verbs = new Set(roles.flatMap(({ rules }) => rules.flatMap((rule) => rule.verbs)));
    expect([...verbs].toSorted()).toEqual(['get', 'list', 'watch']);
    const configurations = rendered.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
    expect(configurations).toHaveLength(2);
    for (const { metadata } of configurations) {
      expect(metadata?.annotations).toMatchObject({
        'cert-manager.io/inject-ca-from': 'karpenter-unikraft/karpenter-unikraft-webhook',
      });
    }
    expect(JSON.stringify(named('Deployment'))).toContain(
      '{"name":"CERTIFICATE_SECRET","value":"karpenter-unikraft-webhook-tls"}',
    );
  });
});
