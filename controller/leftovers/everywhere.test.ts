import { beforeEach, expect, test } from 'vitest';

import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import { DnsUnavailable, ListIncomplete, TerminationRefused } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import { controllerRevisions } from '#schemas/kubernetes/resource.ts';
import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { memoryContext } from '../testing/context.ts';
import { nodeClassSpec } from '../testing/objects.ts';
import { Places } from './everywhere.ts';
import type { Place } from './place.ts';

const { signal } = new AbortController();
const first = 'arn:aws:iam::123456789012:role/first';
const second = 'arn:aws:iam::123456789012:role/second';

let memory: ReturnType<typeof memoryContext>;
/** Roles and keys that are not taken any more. */
let refused: Set<string>;
/** Whom the cloud and the zone were asked by, in order. */
let asked: string[];
beforeEach(() => {
  memory = memoryContext();
  refused = new Set();
  asked = [];
});

/** Stores a revision, newer than all before. */
function revise(spec: Partial<UnikraftNodeClassSpec>, dnsZoneID = 'Z1'): void {
  const { client, namespace } = memory;
  const revision = client.all(controllerRevisions).length + 1;
  const data: ResolvedNodeClass = {
    nodeClass: 'default',
    spec: nodeClassSpec(spec),
    image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
    subnets: [],
    securityGroups: [],
    dnsZoneID,
  };
  client.seed(controllerRevisions, {
    metadata: { namespace, name: `r${revision}` },
    revision,
    data,
  });
}

function withRole(assumeRoleARN: string, assumeRoleExternalID?: string): void {
  const aws = { ...nodeClassSpec().aws!, assumeRoleARN };
  revise({ aws: { ...aws, ...(assumeRoleExternalID !== undefined && { assumeRoleExternalID }) } });
}

function askedBy(who: string, failure: Error): void {
  asked.push(who);
  if (refused.has(who)) throw failure;
}

const roleOf = ({ aws }: UnikraftNodeClassSpec): string =>
  `${aws?.assumeRoleARN ?? ''} ${aws?.assumeRoleExternalID ?? ''}`.trim();

const cloud = {
  name: 'aws',
  snapshot: async ({ spec }: ResolvedNodeClass) => {
    askedBy(roleOf(spec), new ListIncomplete('AccessDenied'));
    return [instance];
  },
  terminate: async ({ spec }: ResolvedNodeClass) =>
    askedBy(roleOf(spec), new TerminationRefused('AccessDenied')),
} as unknown as CloudProvider;

const dnsOf = (spec: UnikraftNodeClassSpec) =>
  ({
    owned: async () => {
      askedBy(spec.dns.tsig?.secretRef.name ?? roleOf(spec), new DnsUnavailable('REFUSED'));
      return [];
    },
  }) as unknown as DnsProvider;

const instance = {
  id: 'i-1',
  region: 'eu-central-1',
  zone: 'eu-central-1a',
  state: 'running',
  instanceType: 'm8i.large',
  get tags() {
    return { [tags.cluster]: memory.context.clusterUid, [tags.claimUid]: 'gone' };
  },
} as unknown as Instance;

async function places(kind: Place['kind'], about: RegExp): Promise<Place[]> {
  const clouds = {
    for: async () => cloud,
    dns: async (spec: UnikraftNodeClassSpec) => dnsOf(spec),
  };
  const all = await new Places(memory.context, clouds, ['kraftlet']).all();
  return all.filter((place) => place.kind === kind && about.test(place.name));
}

const namesOf = async (kind: Place['kind'], about: RegExp): Promise<string[]> =>
  (await places(kind, about)).map(({ name }) => name);

test.each([
  ['another role of the account', () => withRole(first), () => withRole(second), second],
  ['another external id', () => withRole(first, 'a'), () => withRole(first, 'b'), `${first} b`],
])(
  'a region is seen, and tidied, by %s where the newest is refused',
  async (_, older, newer, who) => {
    older();
    newer();
    refused.add(who);
    const [region, ...others] = await places('instance', /./);
    expect(others).toEqual([]);
    const [found] = await region!.list(signal);
    expect(found).toMatchObject({ id: 'i-1', claimUid: 'gone' });
    expect(await region!.remove(found!, signal)).toBe('going');
    expect(asked).toHaveLength(4);
    expect(asked[0]).toBe(who);
  },
);

test('a region that none may list is told with what the newest failed with, and no other is asked where one answers', async () => {
  withRole(first);
  withRole(second);
  const [region] = await places('instance', /./);
  await region!.list(signal);
  expect(asked).toEqual([second]);
  refused.add(first).add(second);
  await expect(region!.list(signal)).rejects.toThrow('AccessDenied');
});

test('another account is another place, whoever answers for the first', async () => {
  withRole(first);
  withRole('arn:aws:iam::210987654321:role/first');
  revise({});
  expect((await namesOf('instance', /./)).toSorted()).toEqual([
    'instances of aws eu-central-1',
    'instances of aws eu-central-1 123456789012',
    'instances of aws eu-central-1 210987654321',
  ]);
});

const updates = (server: string, secret: string): Partial<UnikraftNodeClassSpec> => {
  const tsig = { name: 'machines.', secretRef: { name: secret } };
  return { dns: { provider: 'RFC2136', zone: 'm.example.com', server, tsig } };
};

test('a zone is seen by another key of it where the newest is refused, and is another one on another server', async () => {
  revise(updates('192.0.2.1', 'old'), 'm.example.com.');
  revise(updates('192.0.2.1', 'new'), 'm.example.com.');
  revise(updates('192.0.2.2', 'new'), 'm.example.com.');
  const zones = await places('name', /^names of RFC2136/);
  expect(zones.map(({ name }) => name)).toEqual([
    'names of RFC2136 192.0.2.2 m.example.com.',
    'names of RFC2136 192.0.2.1 m.example.com.',
  ]);
  refused.add('new');
  expect(await zones[1]!.list(signal)).toEqual([]);
  expect(asked).toEqual(['new', 'old']);
});

test('zones of two projects are two, though their ids are alike', async () => {
  for (const project of ['one', 'two']) {
    revise({ dns: { provider: 'CloudDNS', zone: 'm.example.com', project } }, 'machines');
  }
  expect(await namesOf('name', /^names of CloudDNS/)).toEqual([
    'names of CloudDNS two machines',
    'names of CloudDNS one machines',
  ]);
});
