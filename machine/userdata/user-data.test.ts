import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import type { CloudName } from '#schemas/instances/cloud.ts';

import { UserDataTooLarge } from '../errors.ts';
import type { Bootstrap, MachineSecrets } from '../machine.ts';
import { renderUserData } from './user-data.ts';

const secrets: MachineSecrets = {
  token: 'c2VjcmV0',
  tls: {
    certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    privateKey: '-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n',
  },
  activation: undefined,
};
const render = (of: Bootstrap, cloud: CloudName = 'aws'): string => renderUserData(of, cloud);
const bootstrap: Bootstrap = {
  fqdn: 'api.web-3f2a91c0.machines.example.com',
  port: 443,
  quotas: { vcpus: 8, memoryMiB: 12_288, volumeStorageMiB: 512_000, instances: 1000 },
  secrets,
  config: {},
  imagePulls: [],
};

/** Reads as cloud-init does: YAML, then the file's content. */
function machineIn(userData: string) {
  const { write_files: files } = parse(userData) as { write_files: Record<string, string>[] };
  expect(files).toHaveLength(1);
  return { ...files[0], content: JSON.parse(files[0]?.['content'] ?? '') as unknown };
}

test('a machine is told its name, its user and its certificate', () => {
  const userData = render({
    ...bootstrap,
    secrets: { ...secrets, activation: 'once' },
    imagePulls: ['a/b:1'],
  });

  expect(userData.startsWith('#cloud-config\n')).toBe(true);
  expect(machineIn(userData)).toEqual({
    path: '/etc/unikraft/machine.json',
    owner: 'root:root',
    permissions: '0600',
    content: {
      apiVersion: 'machine.karpenter.unikraft.com/v1alpha1',
      fqdn: bootstrap.fqdn,
      port: 443,
      users: [{ name: 'kraftlet', token: 'c2VjcmV0', quotas: bootstrap.quotas }],
      tls: secrets.tls,
      activationToken: 'once',
      config: {},
      imagePulls: ['a/b:1'],
    },
  });
});

test('a machine that is given no certificate is told of none', () => {
  expect(
    machineIn(render({ ...bootstrap, secrets: { ...secrets, tls: undefined } })).content,
  ).not.toHaveProperty('tls');
});

test('a machine that calls for its secrets is told where, and none of them', () => {
  const callback = {
    url: 'https://bootstrap.example.com:8443',
    token: 'e30.e30.c2ln',
    audience: 'unikraft://nodeclaim/1',
    ca: '-----BEGIN CERTIFICATE-----\nCCCC\n-----END CERTIFICATE-----\n',
    cloud: 'aws',
  };
  const { content } = machineIn(render({ ...bootstrap, secrets: { callback } }));
  expect(content).toEqual({
    apiVersion: 'machine.karpenter.unikraft.com/v1alpha1',
    fqdn: bootstrap.fqdn,
    port: 443,
    users: [{ name: 'kraftlet', quotas: bootstrap.quotas }],
    bootstrap: { ...callback, url: `${callback.url}/v1/bootstrap` },
    config: {},
    imagePulls: [],
  });
});

test('the same machine is told the same bytes, in whatever order its settings were written', () => {
  const config = { 'vm-user-min-memory': '16', 'net-count': '1000' };
  const reversed = { 'net-count': '1000', 'vm-user-min-memory': '16' };

  expect(render({ ...bootstrap, config })).toBe(render({ ...bootstrap, config: reversed }));
});

test('any text survives the way through YAML and JSON', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(text, text, (value, token) => {
      const { content } = machineIn(
        render({
          ...bootstrap,
          secrets: { ...secrets, token },
          config: { key: value },
        }),
      );
      expect(content).toMatchObject({ users: [{ token }], config: { key: value } });
    }),
  );
});

test('more than a cloud takes is refused before any cloud is asked', () => {
  const holding = (bytes: number): Bootstrap => ({
    ...bootstrap,
    secrets: { ...secrets, activation: 'x'.repeat(bytes) },
  });

  const tooLarge = () => render(holding(17_000));
  expect(tooLarge).toThrow(UserDataTooLarge);
  expect(tooLarge).toThrow(/has \d+ bytes and may have 16384; shorten/);
  expect(machineIn(render(holding(17_000), 'gcp')).content).toMatchObject({ users: [{}] });
  expect(() => render(holding(262_144), 'gcp')).toThrow(/may have 262144; shorten/);
});
