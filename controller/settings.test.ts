import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { readSettings } from './settings.ts';

test('nothing need be set', () => {
  expect(readSettings({})).toMatchObject({
    namespace: 'karpenter-unikraft',
    kraftletNamespaces: ['kraftlet'],
    dnsServers: [],
    pricesConfigMap: 'karpenter-unikraft-prices',
    batch: { idle: seconds(1), max: seconds(10) },
    metricsPort: 8080,
    healthPort: 8081,
    logLevel: 'info',
    preferencePolicy: 'Respect',
    minValuesPolicy: 'Strict',
    leaderElection: true,
  });
});

test('names are upstream’s', () => {
  const env = {
    BATCH_IDLE_DURATION: '250ms',
    BATCH_MAX_DURATION: '2s',
    METRICS_PORT: '0',
    HEALTH_PROBE_PORT: '9000',
    LOG_LEVEL: 'debug',
    PREFERENCE_POLICY: 'Ignore',
    MIN_VALUES_POLICY: 'BestEffort',
    DISABLE_LEADER_ELECTION: 'true',
    PRICES_CONFIG_MAP: 'agreed-prices',
    DNS_SERVERS: '10.0.0.2, 127.0.0.1:5353',
  };
  expect(readSettings(env)).toMatchObject({
    batch: { idle: 250, max: seconds(2) },
    metricsPort: 0,
    healthPort: 9000,
    logLevel: 'debug',
    preferencePolicy: 'Ignore',
    minValuesPolicy: 'BestEffort',
    leaderElection: false,
    pricesConfigMap: 'agreed-prices',
    dnsServers: ['10.0.0.2', '127.0.0.1:5353'],
  });
});

test('a start names everything that it cannot read', () => {
  const env = { BATCH_MAX_DURATION: 'soon', METRICS_PORT: '70000', LOG_LEVEL: 'loud' };
  expect(() => readSettings(env)).toThrow(
    /BATCH_MAX_DURATION is "soon".*\n.*METRICS_PORT is "70000".*\n.*LOG_LEVEL is "loud".*KPU301/,
  );
});

describe('how kube-scheduler is configured', () => {
  const constraint = {
    topologyKey: 'topology.kubernetes.io/zone',
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
  };
  const text = JSON.stringify({ podTopologySpread: { defaultConstraints: [constraint] } });

  function written(content: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'scheduler.yaml');
    writeFileSync(path, content);
    return path;
  }

  test('is not asked unless it is told', () => {
    expect(readSettings({}).schedulerConfig).toBeUndefined();
  });

  test('stands in the setting or in a file', () => {
    const told = { constraints: [constraint] };
    expect(readSettings({ SCHEDULER_CONFIG: text }).schedulerConfig).toEqual(told);
    expect(readSettings({ SCHEDULER_CONFIG_FILE: written(text) }).schedulerConfig).toEqual(told);
  });

  test.each([
    [
      'SCHEDULER_CONFIG',
      'podTopologySpread: {defaultConstraints: [{}]}',
      /^SCHEDULER_CONFIG: podTopologySpread\.defaultConstraints\[0\]\.maxSkew is missing; it must be a whole number from 1.*KPU301/,
    ],
    [
      'SCHEDULER_CONFIG_FILE',
      '/nowhere/scheduler.yaml',
      /^SCHEDULER_CONFIG_FILE: .*no such file.*\/nowhere\/scheduler\.yaml.*KPU301/,
    ],
  ])('that cannot be used stops the start: %s', (name, value, message) => {
    expect(() => readSettings({ [name]: value })).toThrow(message);
  });

  test('cannot be told twice', () => {
    const env = { SCHEDULER_CONFIG: text, SCHEDULER_CONFIG_FILE: written(text) };
    expect(() => readSettings(env)).toThrow('SCHEDULER_CONFIG is set too; keep one of them');
  });
});

describe('machines that call for their secrets', () => {
  test('may not, unless the server has a name', () => {
    expect(readSettings({ BOOTSTRAP_PORT: '9443' })).not.toHaveProperty('bootstrap');
    expect(readSettings({ BOOTSTRAP_HOSTNAMES: 'a.example.com, b' }).bootstrap).toEqual({
      port: 8443,
      hostnames: ['a.example.com', 'b'],
      awsIssuers: [],
      googleKeys: 'https://www.googleapis.com/oauth2/v3/certs',
    });
  });

  test('are believed by the issuers that are named, with or without a slash at the end', () => {
    const issuer = 'https://11111111-2222.tokens.sts.global.api.aws';
    const env = {
      BOOTSTRAP_HOSTNAMES: 'a',
      BOOTSTRAP_AWS_ISSUERS: `${issuer}/, http://127.0.0.1:8080`,
      BOOTSTRAP_GOOGLE_KEYS: 'http://127.0.0.1:8081',
    };
    expect(readSettings(env).bootstrap).toMatchObject({
      awsIssuers: [issuer, 'http://127.0.0.1:8080'],
      googleKeys: 'http://127.0.0.1:8081',
    });
  });

  test.each(['BOOTSTRAP_AWS_ISSUERS', 'BOOTSTRAP_GOOGLE_KEYS'])(
    'keys that came over an open line prove nothing: %s',
    (name) => {
      const env = { BOOTSTRAP_HOSTNAMES: 'a', [name]: 'http://keys.example.com' };
      expect(() => readSettings(env)).toThrow(
        `${name}: "http://keys.example.com" is no https address`,
      );
    },
  );
});
