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
  const zones = ['p-1/a.example.com', 'p-2/b.example.com=machines'];
  const args = ['--cluster', uid, '--project', 'p-1', '--project', 'p-1'];
  expect(
    readArguments([...args, ...zones.flatMap((zone) => ['--managed-zone', zone])]),
  ).toMatchObject({
    regions: [],
    projects: ['p-1'],
    managedZones: [
      { project: 'p-1', name: 'a.example.com', id: undefined },
      { project: 'p-2', name: 'b.example.com', id: 'machines' },
    ],
  });
  expect(readArguments([...args, '--managed-zone', 'a.example.com'])).toMatchObject({
    message: expect.stringContaining('write <project>/<DNS name>') as string,
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

test('what is missing or not known is named', () => {
  expect(readArguments(['--region', 'eu-central-1'])).toEqual(new Error('--cluster is missing'));
  expect(readArguments(['--cluster', uid])).toMatchObject({
    message: expect.stringContaining('--region, --zone, --project, --managed-zone') as string,
  });
  expect(readArguments(['--force'])).toMatchObject({
    message: expect.stringContaining('--force') as string,
  });
});
