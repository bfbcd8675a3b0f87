import { expect, test } from 'vitest';

import { defaultInstances, defaultOverhead } from '../instances/capacity.ts';
import { nodeClass } from '../rules/samples.ts';
import { withDefaults } from './defaults.ts';

const { spec } = nodeClass();

test('a spec that says little is filled in all the way down', () => {
  expect(withDefaults(spec)).toMatchObject({
    aws: { region: 'eu-central-1', capacityReservationPreference: 'open' },
    platform: { port: 443, advertiseStorage: false, capacity: { volumeStorage: '0' } },
    dns: { nameTemplate: 'api.{{node}}.{{zone}}', addressType: 'Internal', ttl: 60 },
    certificate: { api: { mode: 'PrivateCA' } },
    kraftlet: { namespace: 'kraftlet' },
    deadlines: { launch: '5m', healthy: '20m', registration: '10m' },
  });
});

test('absent and default are the same, and what is set stays', () => {
  const stated = { ...spec, platform: { port: 443, overhead: { memory: '4Gi' } } };
  expect(withDefaults(stated)).toEqual(withDefaults(spec));
  expect(withDefaults({ ...spec, platform: { port: 8443 } }).platform?.port).toBe(8443);
});

test('it is filled in once: doing it again changes nothing, and the given spec is untouched', () => {
  const before = structuredClone(spec);
  const filled = withDefaults(spec);
  expect(withDefaults(filled)).toEqual(filled);
  expect(spec).toEqual(before);
});

test('defaults reach into lists, and leave free-form values alone', () => {
  const aws = {
    ...spec.aws,
    blockDevices: [{ volumeSize: '100Gi' }, { volumeSize: '1Ti', encrypted: false }],
  };
  const kraftlet = {
    ...spec.kraftlet,
    values: { platform: null, constructor: { namespace: 'x' } },
  };
  const filled = withDefaults({ ...spec, aws, kraftlet } as typeof spec);
  expect(filled.aws?.blockDevices).toEqual([
    { volumeSize: '100Gi', volumeType: 'gp3', encrypted: true },
    { volumeSize: '1Ti', volumeType: 'gp3', encrypted: false },
  ]);
  expect(filled.kraftlet.values).toEqual(kraftlet.values);
});

test('the arithmetic of capacity knows the same defaults', () => {
  const { overhead, capacity } = withDefaults(spec).platform ?? {};
  expect(overhead).toEqual(defaultOverhead);
  expect(capacity?.instances).toBe(defaultInstances);
});
