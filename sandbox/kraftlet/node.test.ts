import { expect, test } from 'vitest';

import { nodeOf, type PlatformFacts, statusOf } from './node.ts';
import { readSettings } from './settings.ts';
import { WantedMemory } from './wanted-memory.ts';

const settings = readSettings({
  KRAFTLET_NODE_NAME: 'web-1',
  KRAFTLET_UKC_DEFAULT_METRO: 'https://api.web-1.machines.sandbox.test',
  KRAFTLET_UKC_TOKEN: 'secret',
  KRAFTLET_NODE_PROVIDER_ID: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
  KRAFTLET_NODE_LABELS: 'topology.kubernetes.io/zone=eu-central-1a',
});
const hard = { instances: 1000, live_vcpus: 64, live_memory_mb: 8192, total_volume_mb: 0 };
const used = { instances: 0, live_vcpus: 0, live_memory_mb: 0, total_volume_mb: 0 };
const well: PlatformFacts = { reachable: true, healthy: true, quotas: { hard, used } };
const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'];

const conditionsOf = (facts: PlatformFacts): Record<string, string> =>
  Object.fromEntries(
    statusOf(settings, facts, early, []).conditions.map(({ type, status }) => [type, status]),
  );

test('a Node is exactly what Kraftlet makes it', () => {
  const node = nodeOf(settings, well, early);
  expect(node.metadata?.labels).toEqual({
    'kubernetes.io/hostname': 'web-1',
    'kubernetes.io/role': 'agent',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    type: 'kubelet',
    'unikraft.com/virtual-kubelet': 'true',
    'topology.kubernetes.io/zone': 'eu-central-1a',
  });
  expect(node.spec).toEqual({
    providerID: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
    taints: [{ key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' }],
  });
  expect(node.status.capacity).toEqual({ cpu: '64', memory: '8192Mi', pods: '1000' });
  expect(node.status.allocatable).toEqual(node.status.capacity);
});

test('conditions follow the platform', () => {
  const calm = {
    Ready: 'True',
    MemoryPressure: 'False',
    DiskPressure: 'False',
    PIDPressure: 'False',
  };
  expect(conditionsOf(well)).toEqual({ ...calm, UnikraftPlatformHealthy: 'True' });
  expect(conditionsOf({ ...well, reachable: false, healthy: false })).toEqual({
    ...calm,
    Ready: 'False',
    UnikraftPlatformHealthy: 'False',
  });
  const full = { hard, used: { ...used, live_memory_mb: 8192, instances: 1000 } };
  expect(conditionsOf({ ...well, quotas: full })).toMatchObject({
    Ready: 'True',
    MemoryPressure: 'True',
    PIDPressure: 'True',
  });
});

test('memory is short while what was refused would be refused again, and only then', () => {
  const wanted = new WantedMemory();
  const at = (usedMiB: number): string | undefined =>
    conditionsOf(
      wanted.in({ ...well, quotas: { hard, used: { ...used, live_memory_mb: usedMiB } } }),
    )['MemoryPressure'];
  expect(at(6000)).toBe('False');
  wanted.refused(4096);
  wanted.refused(1024);
  expect([at(6000), at(4097)]).toEqual(['True', 'True']);
  expect([at(4096), at(6000)]).toEqual(['False', 'False']);
  wanted.refused(8193); // larger than the quota: no machine of this size has room for it
  expect([at(0), at(6000)]).toEqual(['False', 'False']);
});

test('a transition time moves only with its status, a heartbeat always', () => {
  const before = statusOf(settings, well, early, []).conditions;
  const after = statusOf(settings, { ...well, reachable: false }, late, before).conditions;
  const times = after.map(({ type, lastTransitionTime, lastHeartbeatTime }) => [
    type,
    lastTransitionTime,
    lastHeartbeatTime,
  ]);
  expect(times).toContainEqual(['Ready', late, late]);
  expect(times).toContainEqual(['MemoryPressure', early, late]);
});
