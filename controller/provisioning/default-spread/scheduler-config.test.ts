import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';

import { parseSchedulerConfig } from './scheduler-config.ts';

const zone = 'topology.kubernetes.io/zone';
const hard = { topologyKey: zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
const wish = {
  topologyKey: 'kubernetes.io/hostname',
  maxSkew: 2,
  whenUnsatisfiable: 'ScheduleAnyway',
};
const system = [
  { topologyKey: 'kubernetes.io/hostname', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: zone, maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
];

const karpenter = (podTopologySpread: unknown): string => stringify({ podTopologySpread });
const kubeScheduler = (...profiles: object[]): string =>
  stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    profiles,
  });
const profile = (args: object, more: object = {}) => ({
  ...more,
  pluginConfig: [
    { name: 'NodeResourcesFit', args: { ignoredResources: ['example.com/gpu'] } },
    { name: 'PodTopologySpread', args },
  ],
});

describe('upstream’s document', () => {
  test('is a list of constraints, for the Pods of every scheduler', () => {
    expect(parseSchedulerConfig(karpenter({ defaultConstraints: [hard, wish] }))).toEqual({
      constraints: [hard, wish],
    });
  });

  test('may be JSON', () => {
    const text = JSON.stringify({ podTopologySpread: { defaultConstraints: [hard] } });
    expect(parseSchedulerConfig(text)?.constraints).toEqual([hard]);
  });

  test('may ask for what kube-scheduler does by itself', () => {
    expect(parseSchedulerConfig(karpenter({ defaultingType: 'System' }))?.constraints).toEqual(
      system,
    );
  });

  test.each(['{}', '', 'podTopologySpread:', 'podTopologySpread: {defaultConstraints: []}'])(
    'that says nothing is none: %s',
    (text) => expect(parseSchedulerConfig(text)).toBeUndefined(),
  );
});

describe('kube-scheduler’s own file', () => {
  test('is read as it is, and other plugins are passed over', () => {
    const args = { defaultingType: 'List', defaultConstraints: [hard] };
    expect(parseSchedulerConfig(kubeScheduler(profile(args)))).toEqual({
      schedulerName: 'default-scheduler',
      constraints: [hard],
    });
  });

  test.each([
    ['no profile', kubeScheduler()],
    ['a profile without the plugin', kubeScheduler({ schedulerName: 'default-scheduler' })],
    ['a plugin without a type', kubeScheduler(profile({}))],
  ])('with %s means its own two wishes', (_, text) => {
    expect(parseSchedulerConfig(text)?.constraints).toEqual(system);
  });

  test('with an empty list gives no spread', () => {
    expect(
      parseSchedulerConfig(kubeScheduler(profile({ defaultingType: 'List' }))),
    ).toBeUndefined();
  });

  test('of several profiles, that of default-scheduler counts', () => {
    const text = kubeScheduler(
      profile({ defaultingType: 'List', defaultConstraints: [wish] }, { schedulerName: 'batch' }),
      profile({ defaultingType: 'List', defaultConstraints: [hard] }),
    );
    expect(parseSchedulerConfig(text)?.constraints).toEqual([hard]);
  });

  test('of one profile with another name, that counts for the Pods that ask for it', () => {
    const text = kubeScheduler(
      profile({ defaultingType: 'List', defaultConstraints: [hard] }, { schedulerName: 'packer' }),
    );
    expect(parseSchedulerConfig(text)).toEqual({ schedulerName: 'packer', constraints: [hard] });
  });

  test('matchLabelKeys are let go, as kube-scheduler puts its selector in their place', () => {
    const args = {
      defaultingType: 'List',
      defaultConstraints: [{ ...hard, matchLabelKeys: ['pod-template-hash'] }],
    };
    expect(parseSchedulerConfig(kubeScheduler(profile(args)))?.constraints).toEqual([hard]);
  });
});

describe('what kube-scheduler would not take is refused, with its place and what may stand there', () => {
  const of = (...constraints: unknown[]) => karpenter({ defaultConstraints: constraints });
  const first = 'podTopologySpread.defaultConstraints[0]';

  test.each([
    [of({ ...hard, maxSkew: 0 }), `${first}.maxSkew is 0; it must be a whole number from 1`],
    [of({ ...hard, maxSkew: '1' }), `${first}.maxSkew is "1"; it must be a whole number from 1`],
    [
      of({ ...hard, topologyKey: 'a b' }),
      `${first}.topologyKey is "a b"; it must be the key of a label`,
    ],
    [of({ ...hard, topologyKey: `${'a'.repeat(64)}` }), `${first}.topologyKey is`],
    [
      of({ maxSkew: 1, topologyKey: zone }),
      `${first}.whenUnsatisfiable is missing; it may be DoNotSchedule`,
    ],
    [of({ ...hard, labelSelector: {} }), `${first}.labelSelector is {}; it must go`],
    [of({ ...hard, maxskew: 1 }), `${first} has a field maxskew; it may have maxSkew`],
    [
      of(hard, { ...hard, maxSkew: 2 }),
      `[1] has topologyKey and whenUnsatisfiable of [0]; keep one`,
    ],
    [of('zone'), `${first} must be an object with maxSkew`],
    [karpenter({ defaultConstraints: {} }), 'defaultConstraints must be a list'],
    [
      karpenter({ defaultingType: 'Own' }),
      'podTopologySpread.defaultingType is "Own"; it may be List or System',
    ],
    ['podTopologyspread: {}', 'has a field podTopologyspread; it may have podTopologySpread'],
    ['[]', 'must be an object with podTopologySpread'],
    ['a: [', 'a: ['],
  ])('%s', (text, message) => {
    expect(() => parseSchedulerConfig(text)).toThrow(message);
  });

  test('a list without its type, in kube-scheduler’s own file', () => {
    expect(() =>
      parseSchedulerConfig(kubeScheduler(profile({ defaultConstraints: [hard] }))),
    ).toThrow(
      'profiles[0].pluginConfig[1].args.defaultingType is System, which has no defaultConstraints; write List',
    );
  });

  test('several profiles of which none is the default', () => {
    expect(() =>
      parseSchedulerConfig(kubeScheduler({ schedulerName: 'a' }, { schedulerName: 'b' })),
    ).toThrow('profiles are a, b; of several one must be default-scheduler');
  });
});
