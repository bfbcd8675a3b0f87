import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { readSettings } from './settings.ts';

test('without any, the certificate is good for the Service', () => {
  expect(readSettings({})).toMatchObject({
    port: 10_250,
    shutdownDelay: seconds(10),
    names: [
      'karpenter-unikraft-webhook.karpenter-unikraft.svc',
      'karpenter-unikraft-webhook.karpenter-unikraft.svc.cluster.local',
    ],
  });
});

test('the certificate follows the namespace, and further names of the host', () => {
  const env = { SYSTEM_NAMESPACE: 'machines', WEBHOOK_HOSTNAMES: 'localhost, hook.example.com' };
  expect(readSettings(env).names).toEqual([
    'karpenter-unikraft-webhook.machines.svc',
    'karpenter-unikraft-webhook.machines.svc.cluster.local',
    'localhost',
    'hook.example.com',
  ]);
});

test('every mistake is named at once', () => {
  const env = { WEBHOOK_PORT: 'https', SHUTDOWN_DELAY: 'soon', LOG_LEVEL: 'loud' };
  expect(() => readSettings(env)).toThrow(/WEBHOOK_PORT[^]*LOG_LEVEL[^]*SHUTDOWN_DELAY[^]*KPU301/);
});
