import { beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';

import type { StatefulSet } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';
import type { KraftletSpec } from '#schemas/nodeclass/types.ts';

import { failureOf } from '../testing/ec2.ts';
import { identity } from '../testing/machines.ts';
import { HelmReleases } from './helm-releases.ts';
import { type Helm, HelmFailed, type Rendering } from './helm.ts';
import type { ReleaseRequest } from './release.ts';

const signal = new AbortController().signal;

/** Helm as the test says: what it renders, and what it was asked. */
class ScriptedHelm implements Helm {
  readonly asked: Rendering[] = [];
  objects: object[] = chart();
  failure: string | undefined;

  async template(rendering: Rendering): Promise<string> {
    this.asked.push(rendering);
    if (this.failure !== undefined) throw new HelmFailed(this.failure);
    return this.objects.map((object) => stringify(object)).join('---\n');
  }
}

const named = (apiVersion: string, kind: string, rest: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: identity.name },
  ...rest,
});

/** What the vendor's chart holds, as far as is known. */
function chart(podSpec: object = {}): object[] {
  const labelsOfPod = { 'app.kubernetes.io/instance': identity.name };
  return [
    named('apps/v1', 'StatefulSet', {
      spec: {
        replicas: 1,
        selector: { matchLabels: labelsOfPod },
        template: {
          metadata: { labels: labelsOfPod },
          spec: {
            serviceAccountName: 'kraftlet-sa',
            containers: [{ name: 'kraftlet', image: 'kraftlet:0.6.0', env: [] }],
            ...podSpec,
          },
        },
      },
    }),
    named('v1', 'Service'),
    named('v1', 'Secret', { stringData: { token: 'x' } }),
    named('v1', 'ServiceAccount'),
    named('rbac.authorization.k8s.io/v1', 'ClusterRole', { rules: [] }),
    named('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'),
  ];
}

const request = (kraftlet: Partial<KraftletSpec> = {}): ReleaseRequest => ({
  identity,
  kraftlet: { chart: 'oci://registry.example.com/charts/kraftlet', version: '0.6.0', ...kraftlet },
  endpoint: {
    fqdn: 'api.web-3f2a91c0.machines.example.com',
    address: '10.0.0.7',
    port: 443,
    token: 'secret',
    ca: 'PEM',
  },
  providerID: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
  architecture: 'amd64',
  nodeLabels: { [labels.nodeClass]: 'default' },
  nodeTaint: taints.unregistered,
  hostAliases: [],
});

let helm: ScriptedHelm;
let releases: HelmReleases;
beforeEach(() => {
  helm = new ScriptedHelm();
  releases = new HelmReleases({ helm, namespaces: ['kraftlet', 'machines'] });
});

const render = async (kraftlet: Partial<KraftletSpec> = {}) =>
  releases.render(request(kraftlet), signal);
async function renderedSet(): Promise<StatefulSet> {
  const objects = await render();
  return objects.find(({ kind }) => kind === 'StatefulSet') as StatefulSet;
}
const podOf = (set: StatefulSet) => set.spec!.template;

describe('the values of a machine', () => {
  test('are what its Node is born with', async () => {
    await render();

    expect(helm.asked).toEqual([
      {
        release: identity.name,
        chart: 'oci://registry.example.com/charts/kraftlet',
        version: '0.6.0',
        namespace: 'kraftlet',
        values: {
          ukc: { metro: 'https://api.web-3f2a91c0.machines.example.com', token: 'secret' },
          node: {
            name: identity.name,
            providerId: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
            architecture: 'amd64',
            labels: { [labels.nodeClass]: 'default' },
            taint: {
              enable: true,
              key: 'karpenter.sh/unregistered',
              value: '',
              effect: 'NoSchedule',
            },
          },
          kraftlet: { replication: { enabled: false, replicas: 1 }, enablePvcWatcher: false },
          priorityClassName: 'system-cluster-critical',
        },
      },
    ]);
  });

  test('keep what a user adds, and not what a user would change of them', async () => {
    await render({
      values: {
        image: { tag: '0.6.1' },
        ukc: { metro: 'https://elsewhere.example.com', timeout: '5s' },
        node: { name: 'mine', labels: { team: 'shop' }, annotations: { note: 'kept' } },
        kraftlet: { replication: { enabled: true, replicas: 9 }, logLevel: 'debug' },
        priorityClassName: 'low',
      },
    });

    expect(helm.asked[0]?.values).toMatchObject({
      image: { tag: '0.6.1' },
      ukc: { metro: 'https://api.web-3f2a91c0.machines.example.com', timeout: '5s' },
      node: { name: identity.name, annotations: { note: 'kept' } },
      kraftlet: { replication: { enabled: false, replicas: 1 }, logLevel: 'debug' },
      priorityClassName: 'system-cluster-critical',
    });
    expect(helm.asked[0]?.values['node']).toHaveProperty('labels', {
      [labels.nodeClass]: 'default',
    });
  });

  test('name the port when it is not the usual one', async () => {
    const { endpoint, ...rest } = request();
    await releases.render({ ...rest, endpoint: { ...endpoint, port: 8443 } }, signal);

    expect(helm.asked[0]?.values['ukc']).toMatchObject({
      metro: 'https://api.web-3f2a91c0.machines.example.com:8443',
    });
  });
});

describe('a release', () => {
  test('comes in the order of its needs, with our binding and CA, all of it marked', async () => {
    const objects = await render();

    expect(
      objects.map(({ kind, metadata }) => `${kind} ${metadata?.namespace} ${metadata?.name}`),
    ).toEqual([
      'ClusterRoleBinding undefined web-3f2a91c0',
      'Secret kraftlet web-3f2a91c0-ca',
      'ServiceAccount kraftlet web-3f2a91c0',
      'Secret kraftlet web-3f2a91c0',
      'Service kraftlet web-3f2a91c0',
      'StatefulSet kraftlet web-3f2a91c0',
    ]);
    expect(
      objects.every(({ metadata }) => metadata?.labels?.[labels.claimUid] === identity.claimUid),
    ).toBe(true);
    expect(objects[0]).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: 'karpenter-unikraft-kraftlet' },
      subjects: [{ kind: 'ServiceAccount', name: 'kraftlet-sa', namespace: 'kraftlet' }],
    });
    expect(objects[1]).toMatchObject({ data: { 'ca.crt': btoa('PEM') } });
  });

  test('has a Pod that trusts the machine’s CA and is left where it is', async () => {
    const { metadata, spec } = podOf(await renderedSet());

    expect(metadata?.annotations).toEqual({ 'karpenter.sh/do-not-disrupt': 'true' });
    expect(metadata?.labels).toMatchObject({ [labels.claimUid]: identity.claimUid });
    expect(spec.priorityClassName).toBe('system-cluster-critical');
    expect(spec.volumes).toEqual([
      { name: 'karpenter-unikraft-ca', secret: { secretName: 'web-3f2a91c0-ca' } },
    ]);
    expect(spec.containers[0]).toMatchObject({
      env: [
        { name: 'SSL_CERT_DIR', value: '/etc/karpenter-unikraft/ca' },
        { name: 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION', value: 'false' },
      ],
      volumeMounts: [
        { name: 'karpenter-unikraft-ca', mountPath: '/etc/karpenter-unikraft/ca', readOnly: true },
      ],
    });
  });

  test('has a Pod that never runs on a Kraftlet’s node, whatever else the chart asks for', async () => {
    const zone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] };
    const arch = { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] };
    const away = { key: labels.virtualKubelet, operator: 'DoesNotExist' };
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [zone] }, { matchExpressions: [arch] }],
      },
    };
    helm.objects = chart({ affinity: { nodeAffinity, podAntiAffinity: { kept: true } } });

    expect(podOf(await renderedSet()).spec.affinity).toEqual({
      podAntiAffinity: { kept: true },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [zone, away] },
            { matchExpressions: [arch, away] },
          ],
        },
      },
    });
  });

  test('has our variables also where the chart sets them otherwise', async () => {
    const env = [
      { name: 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION', value: 'true' },
      { name: 'KRAFTLET_LOG_TYPE', value: 'json' },
    ];
    helm.objects = chart({ containers: [{ name: 'kraftlet', env }] });

    expect(podOf(await renderedSet()).spec.containers[0]?.env).toEqual([
      { name: 'KRAFTLET_LOG_TYPE', value: 'json' },
      { name: 'SSL_CERT_DIR', value: '/etc/karpenter-unikraft/ca' },
      { name: 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION', value: 'false' },
    ]);
  });

  test('has a Pod that is told such names as are in no DNS, over what the chart says of them', async () => {
    const theirs = [
      { ip: '10.0.0.9', hostnames: ['db.example.com', 'api.web-1.machines.internal'] },
      { ip: '10.0.0.8', hostnames: ['api.web-1.machines.internal'] },
      { ip: '10.0.0.7', hostnames: ['cache.example.com'] },
    ];
    helm.objects = chart({ hostAliases: theirs });
    const ours = {
      ip: '10.0.0.7',
      hostnames: ['api.web-1.machines.internal', 'index.web-1.machines.internal'],
    };

    const objects = await releases.render({ ...request(), hostAliases: [ours] }, signal);
    const set = objects.find(({ kind }) => kind === 'StatefulSet') as StatefulSet;
    expect(podOf(set).spec.hostAliases).toEqual([
      { ip: '10.0.0.9', hostnames: ['db.example.com'] },
      { ip: '10.0.0.7', hostnames: ['cache.example.com', ...ours.hostnames] },
    ]);
    expect(podOf(await renderedSet()).spec.hostAliases).toEqual(theirs);
  });

  test('checks nobody only where there is nothing to trust, whatever the chart says', async () => {
    const insecure = { name: 'KRAFTLET_ALLOW_INSECURE', value: 'true' };
    helm.objects = chart({ containers: [{ name: 'kraftlet', env: [insecure] }] });
    expect(podOf(await renderedSet()).spec.containers[0]?.env).not.toContainEqual(insecure);

    const { endpoint, ...rest } = request();
    const trusting = { ...rest, endpoint: { ...endpoint, ca: undefined } };
    const objects = await releases.render(trusting, signal);
    const { spec } = podOf(objects.find(({ kind }) => kind === 'StatefulSet') as StatefulSet);
    expect(spec.containers[0]?.env).toEqual([
      insecure,
      { name: 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION', value: 'false' },
    ]);
    expect(spec.containers[0]?.volumeMounts).toEqual([]);
    expect(spec.volumes).toEqual([]);
    expect(objects.map(({ metadata }) => metadata?.name)).not.toContain('web-3f2a91c0-ca');
  });

  test('is rendered once for the same machine, and anew when anything differs', async () => {
    const first = await render();
    expect(await render()).toEqual(first);
    await render({ values: { image: { tag: 'new' } } });

    expect(helm.asked).toHaveLength(2);
  });
});

describe('a chart', () => {
  const refused: [string, KubeObject, RegExp][] = [
    ['a Role', named('rbac.authorization.k8s.io/v1', 'Role'), /holds Role web-3f2a91c0/],
    ['a DaemonSet', named('apps/v1', 'DaemonSet'), /holds DaemonSet/],
    [
      'a kind of another group by an allowed name',
      named('example.com/v1', 'Secret'),
      /example\.com\/v1/,
    ],
    ['a kind that objects inherit', named('v1', 'constructor'), /holds constructor/],
    [
      'an object elsewhere',
      { ...named('v1', 'Secret'), metadata: { name: 'x', namespace: 'kube-system' } },
      /namespace kube-system/,
    ],
    [
      'a token that outlives its Pod',
      { ...named('v1', 'Secret'), type: 'kubernetes.io/service-account-token' } as KubeObject,
      /brings a token for ever in Secret web-3f2a91c0/,
    ],
    ['a second StatefulSet', named('apps/v1', 'StatefulSet'), /has 2 StatefulSets/],
  ];
  test.each(refused)('with %s is refused', async (_case, object, message) => {
    helm.objects = [...chart(), object];

    const error = await failureOf(releases.probe(request().kraftlet, signal));

    expect(error).toMatchObject({ code: 'KPU261', condition: 'KraftletReady', next: 'node-class' });
    expect(error.message).toMatch(message);
  });

  test('may go only where the operator may', async () => {
    const error = await failureOf(render({ namespace: 'kube-system' }));

    expect(error).toMatchObject({
      code: 'KPU263',
      message:
        'The operator may not use spec.kraftlet.namespace kube-system; choose among kraftlet, machines, or add it to KRAFTLET_NAMESPACES',
    });
    expect(helm.asked).toEqual([]);
  });

  test.each([
    ['Error: execution error at (kraftlet/templates/a.yaml:1:3): no good', 'KPU262'],
    ["Error: values don't meet the specifications of the schema(s)", 'KPU262'],
    ['level=WARN msg=old\nError: kraftlet/templates/a.yaml:1:10', 'KPU262'],
    ['Error: path "/charts/templates/kraftlet" not found', 'KPU260'],
    ['Error: Get "https://registry.example.com/v2/": connection refused', 'KPU260'],
  ])('that Helm cannot use is told in Helm’s words: %s', async (words, code) => {
    helm.failure = words;

    const error = await failureOf(releases.probe(request().kraftlet, signal));

    const field = code === 'KPU262' ? 'spec.kraftlet.values' : 'spec.kraftlet.chart';
    expect(error).toMatchObject({ code, message: `${field}: Helm says: ${words}` });
  });

  test('that is not YAML is told as broken', async () => {
    helm.template = async () => 'kind: [';

    expect(await failureOf(render())).toMatchObject({ code: 'KPU262' });
  });

  test('that could be had once is probed again each time', async () => {
    await releases.probe(request().kraftlet, signal);
    helm.failure = 'Error: chart is gone';

    await expect(releases.probe(request().kraftlet, signal)).rejects.toThrow(/chart is gone/);
  });
});
