import { expect, test } from 'vitest';

import { readArguments } from './arguments.ts';

const uid = '3f2a91c0-1111-4222-8333-44445555aaaa';

test('regions and zones may be several, and a zone may say which of its name it is', () => {
  const args = ['--cluster', uid, '--region', 'eu-central-1', '--region', 'eu-west-1'];
  const zones = [
    '--zone',
    'a.example.com',
    '--zone',
    'b.example.com=Z1',
    '--zone',
    'a.example.com',
  ];
  expect(readArguments([...args, ...zones])).toEqual({
    clusterUid: uid,
    regions: ['eu-central-1', 'eu-west-1'],
    zones: [
      { name: 'a.example.com', id: undefined },
      { name: 'b.example.com', id: 'Z1' },
    ],
    projects: [],
    managedZones: [],
    assumeRoleARN: undefined,
    assumeRoleExternalID: undefined,
    yes: false,
  });
});

test('projects of Google Cloud, and zones of Cloud DNS with theirs', () => {
  const zones = ['proj-1/a.example.com', 'proj-2/b.example.com=machines'];
  const args = ['--cluster', uid, '--project', 'proj-1', '--project', 'proj-1'];
  expect(
    readArguments([...args, ...zones.flatMap((zone) => ['--managed-zone', zone])]),
  ).toMatchObject({
    regions: [],
    projects: ['proj-1'],
    managedZones: [
      { project: 'proj-1', name: 'a.example.com', id: undefined },
      { project: 'proj-2', name: 'b.example.com', id: 'machines' },
    ],
  });
  expect(readArguments([...args, '--managed-zone', 'a.example.com'])).toMatchObject({
    message: expect.stringContaining('is not <project>/<DNS name>') as string,
  });
});

test.for(['*', '', '?'.repeat(36), `${uid.slice(0, -1)}*`, uid.toUpperCase(), `${uid} `])(
  'no pattern passes for a cluster: %j',
  (cluster) => {
    const outcome = readArguments(['--cluster', cluster, '--region', 'eu-central-1']);
    expect(outcome).toBeInstanceOf(Error);
    expect((outcome as Error).message).toContain('--cluster');
  },
);

const cluster = ['--cluster', uid];
const somewhere = [...cluster, '--region', 'eu-central-1'];

test.for<[string, readonly string[], string]>([
  ['no cluster', ['--region', 'eu-central-1'], '--cluster is missing'],
  ['nowhere', cluster, 'nothing says where to look: --region, --zone, --project, --managed-zone'],
  [
    'an unknown flag',
    ['--force'],
    'unknown flag --force; there are --cluster, --region, --zone, --project, --managed-zone, --role, --external-id, --yes',
  ],
  ['a word of its own', [...somewhere, 'all'], '"all" belongs to no flag'],
  ['a flag without its value', [...somewhere, '--zone'], '--zone needs a value'],
  ['a switch with a value', [...somewhere, '--yes=no'], '--yes takes no value'],
  [
    'a region that is none',
    [...cluster, '--region', 'Frankfurt/'],
    '--region "Frankfurt/" is not one such as eu-central-1',
  ],
  [
    'a zone without its id',
    [...cluster, '--zone', 'a.example.com='],
    '--zone "a.example.com=" is not <name>[=<id>]',
  ],
  ['a zone without its name', [...cluster, '--zone', '=Z1'], '--zone "=Z1" is not <name>[=<id>]'],
  ['an empty zone', [...cluster, '--zone', ''], '--zone "" is not <name>[=<id>]'],
  ['an empty project', [...cluster, '--project', ''], '--project "" is not one such as my-project'],
  [
    'a managed zone without its name',
    [...cluster, '--managed-zone', 'my-project/'],
    '--managed-zone "my-project/" is not <project>/<DNS name>[=<managed zone>]',
  ],
  [
    'a managed zone whose name is none',
    [...cluster, '--managed-zone', 'my-project/a b'],
    '--managed-zone "a b" is not <project>/<DNS name>[=<managed zone>]',
  ],
  [
    'a role where nothing is of AWS',
    [...cluster, '--project', 'my-project', '--role', 'arn:aws:iam::123456789012:role/x'],
    '--role is for AWS, and neither --region nor --zone is given',
  ],
  [
    'an external id without a role',
    [...somewhere, '--external-id', 'x'],
    '--external-id is for --role, which is not given',
  ],
])('%s is told in one line', ([, argv, message]) => {
  expect(readArguments(argv)).toEqual(new Error(message));
});

test.for(['eu-central-1', 'us-gov-west-1', 'us-isob-east-1', 'cn-north-1', 'ap-southeast-7'])(
  '%s is a region',
  (region) => {
    expect(readArguments([...cluster, '--region', region])).toMatchObject({ regions: [region] });
  },
);
