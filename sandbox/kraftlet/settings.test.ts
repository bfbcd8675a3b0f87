import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { BadSettings, readSettings } from './settings.ts';

const env = {
  KRAFTLET_NODE_NAME: 'web-1',
  KRAFTLET_UKC_DEFAULT_METRO: 'https://api.web-1.machines.sandbox.test:8443',
  KRAFTLET_UKC_TOKEN: 'secret',
};

test('what the chart does not say is as the vendor has it', () => {
  expect(readSettings(env)).toMatchObject({
    nodeName: 'web-1',
    taint: { key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' },
    labels: {},
    providerID: undefined,
    insecure: false,
    platformHealthCondition: true,
    podFinalizer: 'cloud.unikraft.v1/resources',
    podStatusInterval: seconds(15),
  });
});

test('labels, taint and switches are read', () => {
  const read = readSettings({
    ...env,
    KRAFTLET_NODE_LABELS: 'a/b=c;d=;e=f=g',
    KRAFTLET_NODE_TAINT_KEY: 'karpenter.sh/unregistered',
    KRAFTLET_NODE_TAINT_VALUE: '',
    KRAFTLET_NODE_TAINT_EFFECT: 'NoExecute',
    KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION: 'false',
  });
  expect(read.labels).toEqual({ 'a/b': 'c', d: '', e: 'f=g' });
  expect(read.taint).toEqual({ key: 'karpenter.sh/unregistered', effect: 'NoExecute' });
  expect(read.platformHealthCondition).toBe(false);
  expect(readSettings({ ...env, KRAFTLET_ENABLE_NODE_TAINT: 'false' }).taint).toBeUndefined();
});

test('a metro stands for its URL', () => {
  const { endpoint } = readSettings({ ...env, KRAFTLET_UKC_DEFAULT_METRO: 'fra' });
  expect(endpoint.href).toBe('https://api.fra.unikraft.cloud/');
});

test.for<[string, Record<string, string>]>([
  ['KRAFTLET_UKC_TOKEN', { KRAFTLET_UKC_TOKEN: '' }],
  ['KRAFTLET_NODE_LABELS', { KRAFTLET_NODE_LABELS: 'a,b' }],
  ['KRAFTLET_NODE_TAINT_EFFECT', { KRAFTLET_NODE_TAINT_EFFECT: 'Sometimes' }],
  ['KRAFTLET_ALLOW_INSECURE', { KRAFTLET_ALLOW_INSECURE: 'yes' }],
])('%s that makes no sense is named', ([name, wrong]) => {
  expect(() => readSettings({ ...env, ...wrong })).toThrow(BadSettings);
  expect(() => readSettings({ ...env, ...wrong })).toThrow(name);
});
