import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { deedOf } from '#test/crash/gate/deeds.ts';
import type { Exchange, Service } from '#test/crash/gate/exchange.ts';
import { Gate, type Stop } from '#test/crash/gate/gate.ts';
import { Proxy } from '#test/crash/gate/proxy.ts';
import { Subjects } from '#test/crash/gate/subjects.ts';

const claims = '/apis/karpenter.sh/v1/nodeclaims';
const namespace = '/api/v1/namespaces/karpenter-unikraft';
const ledger = `${namespace}/configmaps/karpenter-unikraft-cluster`;

describe('a stop', () => {
  let server: Server;
  let proxy: Proxy;
  let gate: Gate;
  let first: string;
  let second: string;
  const heard: string[] = [];

  beforeEach(async () => {
    heard.length = 0;
    server = createServer((request, response) => {
      heard.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const subjects = new Subjects();
    [first, second] = [subjects.add(1), subjects.add(2)];
    gate = new Gate(subjects);
    proxy = await start('kubernetes');
  });
  afterEach(async () => {
    gate.thaw();
    await proxy.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const start = async (service: Service) =>
    Proxy.start({
      service,
      upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      gate: (exchange) => gate.admit(exchange),
    });
  /** What a call comes to: a status, or `cut`. */
  const patch = async (name: string, what: object = { metadata: { labels: {} } }) =>
    fetch(`${proxy.url}${claims}/${name}-x`, { method: 'PATCH', body: JSON.stringify(what) }).then(
      ({ status }) => status,
      () => 'cut',
    );
  const stopAt = (side: Stop['side'], step = 'kubernetes: patch nodeclaims labels'): void =>
    gate.arm(first, { step, side });
  const untilStopped = async () => expect.poll(() => gate.isStopped(first)).toBe(true);

  test('before a step holds its call, which is never carried out', async () => {
    stopAt('before');
    const call = patch(first);
    await untilStopped();
    expect(await patch(second)).toBe(200);
    gate.thaw();
    expect(await call).toBe('cut');
    expect(heard).toEqual([`PATCH ${claims}/${second}-x`]);
  });

  test('after a step lets it be carried out and keeps its answer, and all that follows', async () => {
    stopAt('after');
    const call = patch(first);
    await untilStopped();
    const next = patch(first, { metadata: { finalizers: [] } });
    await patch(second);
    gate.thaw();
    expect(await Promise.all([call, next])).toEqual(['cut', 'cut']);
    expect(heard).toEqual([`PATCH ${claims}/${first}-x`, `PATCH ${claims}/${second}-x`]);
    expect(await patch(first)).toBe(200);
  });

  test('at a repetition comes with the second call that was carried out', async () => {
    stopAt('before', 'kubernetes: patch nodeclaims labels (2)');
    expect(await patch(first)).toBe(200);
    void patch(first);
    await untilStopped();
    expect(heard).toHaveLength(1);
  });

  test('where others wait for the answer cuts the call off instead', async () => {
    stopAt('before', 'kubernetes: create events Launched');
    const url = `${proxy.url}/api/v1/namespaces/default/events`;
    const body = JSON.stringify({ reason: 'Launched', involvedObject: { name: `${first}-x` } });
    await expect(fetch(url, { method: 'POST', body })).rejects.toThrow('fetch failed');
    expect(gate.isStopped(first)).toBe(true);
    expect(heard).toEqual([]);
  });

  test('holds no more calls than leave connections to the other machines', async () => {
    stopAt('before');
    const calls = Array.from({ length: 10 }, async () => patch(first));
    await expect.poll(async () => Promise.race([...calls, Promise.resolve('held')])).toBe('cut');
    expect(await patch(second)).toBe(200);
  });

  test('while the API server is away keeps nothing from a cloud', async () => {
    const subjects = new Subjects();
    subjects.add(1);
    gate = new Gate(subjects, 'api-server');
    const cloud = await start('gce');
    stopAt('before', 'gce: POST instances');
    const launch = await fetch(`${cloud.url}/compute/v1/projects/p/zones/z/instances`, {
      method: 'POST',
      body: JSON.stringify({ name: `uk-${first}-x` }),
    });
    expect(launch.status).toBe(200);
    expect(await patch(first)).toBe('cut');
    await cloud.stop();
  });

  test('nobody is reached while the server is away', async () => {
    proxy.away = true;
    expect(await patch(first)).toBe('cut');
    proxy.away = false;
    expect(await patch(first)).toBe(200);
  });
});

describe('whose a call is', () => {
  const ask = (method: string, path: string, body: object = {}): Exchange => ({
    service: 'kubernetes',
    method,
    path,
    body: JSON.stringify(body),
  });
  const data = (...names: string[]) => ({
    metadata: { name: 'karpenter-unikraft-cluster' },
    data: Object.fromEntries(names.map((name, index) => [`uid-${index}`, `{"claim":"${name}-x"}`])),
  });

  test('a ledger that all share is written for those that came or went since it was written last', () => {
    const subjects = new Subjects();
    const [one, two, three] = [1, 2, 3].map((index) => subjects.add(index));
    const begun = ask('POST', `${namespace}/configmaps`, data(one!));
    expect(subjects.of(begun)).toEqual([one]);
    subjects.learn(begun, '{}');
    const grown = ask('PUT', ledger, data(one!, two!, three!));
    expect(subjects.of(grown)).toEqual([two, three]);
    expect(subjects.of(grown)).toEqual([two, three]); // it was not carried out
    subjects.learn(grown, '{}');
    const managedFields = [{ fieldsV1: `f:${one}-x` }];
    const { metadata, ...left } = data(two!, three!);
    const shrunk = { ...left, metadata: { ...metadata, managedFields } };
    expect(subjects.of(ask('PUT', ledger, shrunk))).toEqual([one]);
    expect(subjects.of(ask('DELETE', ledger))).toEqual([one, two, three]);
  });

  test('ids that answers tell are known from then on', () => {
    const subjects = new Subjects();
    const one = subjects.add(1);
    const made = { metadata: { ownerReferences: [{ uid: 'pool' }], uid: 'claim' } };
    subjects.learn(ask('POST', claims, { generateName: `${one}-` }), JSON.stringify(made));
    expect(subjects.of(ask('GET', '/?uid=claim'))).toEqual([one]);
    const launch = { service: 'ec2', method: 'POST', path: '/', body: `name=${one}-x` } as const;
    subjects.learn(launch, '<instanceId>i-00123456789abcdef</instanceId>');
    expect(subjects.of({ ...launch, body: 'InstanceId.1=i-00123456789abcdef' })).toEqual([one]);
  });
});

describe('what a call does', () => {
  const name = 'case-001-0123abcd';
  test.each<[string, string, string, object?]>([
    ['create nodeclaims', 'POST', claims, { metadata: { generateName: 'case-001-' } }],
    [
      'patch nodeclaims launch-intent',
      'PATCH',
      `${claims}/case-001-x`,
      { metadata: { resourceVersion: '7', annotations: { 'example.com/launch-intent': '{}' } } },
    ],
    [
      'patch nodeclaims/status Launched; InstanceRunning InstancePending',
      'PATCH',
      `${claims}/case-001-x/status`,
      {
        status: {
          conditions: [
            { type: 'Launched', status: 'True' },
            { type: 'InstanceRunning', status: 'Unknown', reason: 'InstancePending' },
            { type: 'DNSReady', status: 'Unknown', reason: 'AwaitingReconciliation' },
          ],
        },
      },
    ],
    [
      'create secrets *-credentials',
      'POST',
      `${namespace}/secrets`,
      { metadata: { name: `${name}-credentials` } },
    ],
    ['delete secrets *-credentials', 'DELETE', `${namespace}/secrets/${name}-credentials`],
    [
      'patch nodes labels, taints',
      'PATCH',
      `/api/v1/nodes/${name}`,
      { metadata: { labels: {} }, spec: { taints: [] } },
    ],
    ['create pods/eviction *-pod', 'POST', '/api/v1/namespaces/default/pods/case-001-pod/eviction'],
    ['write configmaps of the cluster', 'DELETE', ledger],
    ['replace configmaps of the pool', 'PUT', `${namespace}/configmaps/karpenter-unikraft-0a1b`],
  ])('%s', (wanted, method, path, body = {}) => {
    const deed = deedOf({
      service: 'kubernetes',
      method,
      path,
      body: JSON.stringify(body),
    });
    expect(deed).toMatchObject({ name: wanted, changes: true });
  });

  test.each<[string, boolean, Service, string, string, string?]>([
    ['RunInstances', true, 'ec2', 'POST', '/', 'Action=RunInstances'],
    ['RunInstances', false, 'ec2', 'POST', '/', 'Action=RunInstances&DryRun=true'],
    ['DescribeInstances', false, 'ec2', 'POST', '/', 'Action=DescribeInstances'],
    ['POST rrset', true, 'route53', 'POST', '/2013-04-01/hostedzone/Z1/rrset'],
    ['DELETE instances/*', true, 'gce', 'DELETE', '/compute/v1/projects/p/zones/z/instances/uk-x'],
    ['GET rrsets', false, 'clouddns', 'GET', '/dns/v1/projects/p/managedZones/z/rrsets?name=x'],
  ])('%s, a change: %s', (wanted, changes, service, method, path, body = '') => {
    expect(deedOf({ service, method, path, body })).toMatchObject({ name: wanted, changes });
  });

  test('a lease that is renewed and a read are no changes', () => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/karpenter-unikraft/leases/x';
    for (const [method, path] of [
      ['PUT', lease],
      ['GET', claims],
    ] as const)
      expect(deedOf({ service: 'kubernetes', method, path, body: '' }).changes).toBe(false);
  });
});
