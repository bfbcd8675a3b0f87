import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { ComputeApi } from '../cloud/gcp/api.ts';
import { computeMethods } from '../cloud/gcp/methods.ts';
import { CloudDnsApi, dnsMethods } from '../dns/clouddns/api.ts';
import { Wire } from '../testing/wire.ts';
import { IamApi, iamMethods } from './iam.ts';

const file = fileURLToPath(new URL('../../docs/tasks/gcp-role.yaml', import.meta.url));
const role = parse(readFileSync(file, 'utf8')) as { includedPermissions: string[] };
const methods = [
  ...Object.values(computeMethods),
  ...Object.values(dnsMethods),
  ...Object.values(iamMethods),
];

test('the role holds what the methods need, and no more', () => {
  const needed = new Set(methods.flatMap(({ permissions }) => permissions));
  expect(new Set(role.includedPermissions)).toEqual(needed);
  expect(role.includedPermissions).toEqual([...needed].toSorted((a, b) => (a < b ? -1 : 1)));
});

test('each method is called, and needs at least the permission that it is named after', () => {
  const called = ['../cloud/gcp/api.ts', '../dns/clouddns/api.ts', './iam.ts']
    .map((path) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'))
    .join('');
  const names = [
    ...Object.keys(computeMethods).map((name) => `computeMethods.${name}`),
    ...Object.keys(dnsMethods).map((name) => `dnsMethods.${name}`),
    ...Object.keys(iamMethods).map((name) => `iamMethods.${name}`),
  ];
  expect(
    names.filter((name) => !called.includes(`(${name},`) && !called.includes(` ${name},`)),
  ).toEqual([]);
  const free = methods.filter(({ permissions }) => permissions.length === 0);
  expect(free.filter(({ id }) => !id.endsWith('.testIamPermissions'))).toEqual([]);
});

test('no call goes to a path that is in neither table', async () => {
  const wire = await Wire.start();
  wire.script = () => ({ headers: { 'content-type': 'application/json' }, body: '{}' });
  const token = async (): Promise<string> => 't';
  const { signal } = new AbortController();
  const compute = new ComputeApi(token, `${wire.url}/`);
  const dns = new CloudDnsApi(token, `${wire.url}/`);
  const iam = new IamApi(token, { resources: `${wire.url}/`, iam: `${wire.url}/` });
  const where = { project: 'p', zone: 'z', instance: 'i' };
  const place = { project: 'p', zone: 'z' };
  await Promise.all([
    compute.get(where, signal),
    compute.delete(where, signal),
    compute.setLabels(where, {}, 'f', signal),
    compute.mayUseSubnetwork({ project: 'p', region: 'r', subnetwork: 's' }, [], signal),
    compute.mayUseImage({ project: 'p', image: 'x' }, [], signal),
    iam.ofProject('p', [], signal),
    iam.ofAccount('a@p.test', [], signal),
    compute.operation(where, 'o', signal),
    compute.aggregatedInstances('p', 'name=x', signal),
    compute.aggregatedDisks('p', 'name=x', signal),
    compute.deleteDisk({ project: 'p', zone: 'z', disk: 'd' }, signal),
    compute.machineTypes('p', 'z', signal),
    compute.zones('p', signal),
    compute.subnetwork({ project: 'p', region: 'r', subnetwork: 's' }, signal),
    compute.image('p', 'x', signal),
    compute.imageOfFamily('p', 'f', signal),
    compute.images('p', signal),
    dns.zonesOf('p', 'a.test.', signal),
    dns.zone(place, signal),
    dns.records(place, undefined, signal),
    dns.change(place, { additions: [], deletions: [] }, signal),
  ]);
  wire.stop();
  const patterns = methods.map(
    ({ http, path }) => new RegExp(`^${http} /${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  );
  const met = wire.calls.map(
    ({ method, path }) => patterns.filter((one) => one.test(`${method} ${path}`)).length,
  );
  expect(met.filter((count) => count === 0)).toEqual([]);
});
