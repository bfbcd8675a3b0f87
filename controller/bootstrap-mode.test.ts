import { expect, test } from 'vitest';

import { NodeClassError } from '#machine/errors.ts';

import { checkServed, type BootstrapSettings } from './bootstrap-mode.ts';
import { NodeClassWorld } from './testing/node-class-world.ts';
import { nodeClassSpec } from './testing/objects.ts';

const url = 'https://bootstrap.example.com:8443';
const { aws } = nodeClassSpec();
const changes = {
  bootstrap: { mode: 'Callback', callback: { url } },
  ...(aws && { aws: { ...aws, instanceProfile: 'machine' } }),
} as const;
const callback = nodeClassSpec(changes);
const served: BootstrapSettings = {
  port: 8443,
  hostnames: ['localhost', 'bootstrap.example.com'],
  awsIssuers: ['https://1.tokens.sts.global.api.aws'],
  googleKeys: 'https://keys.example.com',
};

test('a class whose machines call needs a server that they believe, and an issuer that it believes', () => {
  expect(() => checkServed(callback, served)).not.toThrow();
  const troubles = [
    [undefined, 'this operator serves no bootstrap: set BOOTSTRAP_HOSTNAMES'],
    [{ ...served, hostnames: ['other'] }, 'bootstrap.example.com is not among BOOTSTRAP_HOSTNAMES'],
    [{ ...served, awsIssuers: [] }, 'BOOTSTRAP_AWS_ISSUERS is empty'],
  ] as const;
  for (const [settings, message] of troubles) {
    expect(() => checkServed(callback, settings)).toThrow(NodeClassError);
    expect(() => checkServed(callback, settings)).toThrow(message);
  }
});

test('on Google Cloud one issuer is for all', () => {
  const { aws: __, ...rest } = callback;
  const gcp = { project: 'demo-project', region: 'europe-west1', subnetwork: 'machines' };
  expect(() => checkServed({ ...rest, gcp }, { ...served, awsIssuers: [] })).not.toThrow();
});

test('machines that are told their secrets need none of it', () => {
  expect(() => checkServed(nodeClassSpec(), undefined)).not.toThrow();
});

test('no machine is made from a class that nobody serves, and its condition says what to set', async () => {
  const world = new NodeClassWorld();
  await world.apply(changes);
  expect(world.condition('CredentialsReady')).toMatchObject({
    status: 'False',
    reason: 'BootstrapNotServed',
    message: expect.stringMatching(/set BOOTSTRAP_HOSTNAMES \(KPU388\)$/),
  });
  expect(world.current).toBeUndefined();
});
