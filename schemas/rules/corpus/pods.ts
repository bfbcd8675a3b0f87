import fc from 'fast-check';

import type { Container, Pod } from '../../kubernetes/core.ts';
import { labels, taints } from '../../names.ts';
import { container, pod } from '../samples.ts';
import { anyQuantity, mapOf, namesOfJavaScript, someOf } from './values.ts';

const { key, value, effect } = taints.kraftlet;

/** A request may not be above its limit, or the API server refuses the Pod: so it is one, the other, or a fixed pair. */
const anyResources = fc.oneof(
  fc.record({ limits: mapOf(['cpu', 'memory'], anyQuantity) }),
  fc.record({ requests: mapOf(['cpu', 'memory'], anyQuantity) }),
  fc.constantFrom(
    { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '4', memory: '4Gi' } },
    { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '4001m', memory: '4097Mi' } },
    { requests: { cpu: '100m', memory: '0' }, limits: { cpu: '33', memory: '65Ti' } },
  ),
);

const probe = fc.constant({ tcpSocket: { port: 80 } });

/** What ephemeral and init containers may have as well. */
const plain = {
  env: fc.array(
    fc.constantFrom(
      { name: 'A', value: 'a' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    ),
    { maxLength: 2 },
  ),
  volumeMounts: fc.uniqueArray(
    fc.constantFrom(
      { name: 'a', mountPath: '/a' },
      { name: 'a', mountPath: '/b', subPath: 'b' },
      { name: 'a', mountPath: '/c', subPathExpr: 'c' },
    ),
    { maxLength: 2, selector: ({ mountPath }) => mountPath },
  ),
};

const ports = fc
  .uniqueArray(fc.constantFrom(80, 443, 8080), { maxLength: 2 })
  .map((numbers) => numbers.map((containerPort) => ({ containerPort })));

const anyContainer = someOf<Record<string, unknown>>({
  ...plain,
  resources: anyResources,
  ports,
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
});

const anyInitContainer = someOf<Record<string, unknown>>({ ...plain, resources: anyResources });

function named(prefix: string, changes: readonly Record<string, unknown>[]): Container[] {
  return changes.map((one, index) => container({ ...one, name: `${prefix}-${index}` }));
}

const resourceItem = {
  path: 'cpu',
  resourceFieldRef: { containerName: 'main-0', resource: 'limits.cpu' },
};
const labelsItem = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
const claim = (storageClassName: string): object => ({
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName,
    resources: { requests: { storage: '1Gi' } },
  },
});

const anyVolume = fc.constantFrom<object>(
  { emptyDir: {} },
  { emptyDir: { medium: 'Memory' } },
  { emptyDir: { medium: '', sizeLimit: '1Gi' } },
  { hostPath: { path: '/var' } },
  { downwardAPI: { items: [labelsItem] } },
  { downwardAPI: { items: [labelsItem, resourceItem] } },
  { projected: { sources: [{ downwardAPI: { items: [resourceItem] } }] } },
  { projected: { sources: [{ configMap: { name: 'a' } }] } },
  { ephemeral: { volumeClaimTemplate: claim('ukc-volume') } },
  { ephemeral: { volumeClaimTemplate: claim('standard') } },
  { configMap: { name: 'a' } },
);

const expression = fc.record({
  key: fc.constantFrom(labels.capacityType, labels.zone),
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.uniqueArray(fc.constantFrom('spot', 'on-demand', 'reserved'), {
    minLength: 1,
    maxLength: 2,
  }),
});

const anyAffinity = fc
  .array(fc.array(expression, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 })
  .map((terms) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  }));

const anySelector = mapOf(
  [labels.virtualKubelet, labels.os, labels.arch, labels.capacityType, ...namesOfJavaScript],
  fc.constantFrom('true', 'false', 'linux', 'windows', 'amd64', 'x86_64', 'spot', 'on-demand'),
);

const tolerations = fc.array(
  fc.constantFrom(
    { key, operator: 'Equal' as const, value, effect },
    { key, value },
    { key, operator: 'Exists' as const },
    { operator: 'Exists' as const },
  ),
  { maxLength: 2 },
);

const scale = 'cloud.unikraft.v1.instances/scale_to_zero';

const anyMetadata = fc
  .record({
    labels: mapOf(
      [labels.inject, 'app', ...namesOfJavaScript],
      fc.constantFrom('true', 'false', 'a'),
    ),
    annotations: mapOf(
      [
        scale,
        `${scale}.policy`,
        `${scale}.stateful`,
        `${scale}.cooldown_time_ms`,
        `${scale}.other`,
        'note',
        ...namesOfJavaScript,
      ],
      fc.constantFrom('on', 'off', 'idle', 'true', 'false', '5000', '5s', ''),
    ),
    owners: fc.constantFrom<{ controller?: boolean }[]>(
      [{ controller: true }],
      [{}],
      [],
      [{}, { controller: true }],
    ),
  })
  .map(({ owners, ...rest }) => ({
    ...rest,
    ownerReferences: owners.map((owner, index) => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: `sample-${index}`,
      uid: `uid-${index}`,
      ...owner,
    })),
  }));

export const anyPod: fc.Arbitrary<Pod> = fc
  .record({
    metadata: anyMetadata,
    main: fc.array(anyContainer, { minLength: 1, maxLength: 2 }),
    init: fc.array(anyInitContainer, { maxLength: 2 }),
    volume: anyVolume,
    spec: someOf<Record<string, unknown>>({
      affinity: anyAffinity,
      tolerations,
      hostPID: fc.boolean(),
      dnsConfig: fc.constantFrom(
        {},
        { searches: ['example.com'] },
        { options: [{ name: 'ndots', value: '1' }] },
      ),
    }),
    nodeSelector: anySelector,
    isAimed: fc.boolean(),
  })
  .map(({ metadata, main, init, volume, spec, nodeSelector, isAimed }) => {
    const made = pod(
      {
        ...spec,
        containers: named('main', main),
        initContainers: named('init', init),
        volumes: [{ name: 'a', ...volume }],
      },
      metadata,
    );
    return {
      ...made,
      spec: {
        ...made.spec,
        nodeSelector: isAimed ? { ...nodeSelector, [labels.virtualKubelet]: 'true' } : nodeSelector,
      },
    } as Pod;
  });
