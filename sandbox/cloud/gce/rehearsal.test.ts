/** Whether the operator may launch, asked before any machine is tried. */
import { test as base, expect } from 'vitest';

import type { NodeClassError } from '#machine/errors.ts';
import type { GcpSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { fault } from '../wire/faults.ts';
import { failureOf, signal, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const serviceAccount = 'machines@sandbox-project.iam.gserviceaccount.com';

async function rehearsed(
  world: World,
  gcp: Partial<GcpSpec> = { serviceAccount },
  rest: Partial<UnikraftNodeClassSpec> = {},
): Promise<NodeClassError | undefined> {
  return world.cloud.rehearse(await world.resolve(gcp, rest), 'cluster-1', signal);
}

test('who may do all is told nothing, and nothing is made', async ({ world }) => {
  expect(await rehearsed(world)).toBeUndefined();
  expect(world.gce.instances.made).toBe(0);
  const asked = world.iam.callsOf('projects.testIamPermissions');
  expect(asked[0]?.parameters).toMatchObject({
    of: 'sandbox-project',
    permissions: expect.arrayContaining([
      'compute.instances.create',
      'compute.instances.delete',
      'compute.disks.create',
    ]) as string[],
  });
});

test('all that is missing is told at once, each with what it is missing on', async ({ world }) => {
  for (const permission of [
    'compute.instances.create',
    'compute.disks.create',
    'compute.subnetworks.use',
    'compute.images.useReadOnly',
    'iam.serviceAccounts.actAs',
  ])
    world.gce.grants.withheld.add(permission);
  expect(await rehearsed(world)).toMatchObject({
    code: 'KPU216',
    condition: 'CredentialsReady',
    reason: 'PermissionsMissing',
    canPass: true,
    message:
      "By Google's word the operator lacks compute.disks.create, compute.instances.create on project sandbox-project; " +
      'compute.subnetworks.use on subnetwork machines of project sandbox-project; ' +
      'compute.images.useReadOnly on image unikraft-platform-1 of project unikraft-images; ' +
      `iam.serviceAccounts.actAs on service account ${serviceAccount}. ` +
      'Give it the role of docs/tasks/gcp-role.yaml there; launches are tried all the same, since a role under a condition may hold for them',
  } satisfies Partial<NodeClassError>);
});

test.for<[string, Partial<GcpSpec>, Partial<UnikraftNodeClassSpec>]>([
  ['compute.instances.setServiceAccount', { serviceAccount }, {}],
  ['compute.instances.setTags', { networkTags: ['machines'] }, {}],
  [
    'compute.subnetworks.useExternalIp',
    {},
    { dns: { provider: 'Route53', zone: 'machines.example.com', addressType: 'External' } },
  ],
])('%s is asked for by a class that needs it alone', async ([permission, gcp, rest], { world }) => {
  world.gce.grants.withheld.add(permission);
  expect(await rehearsed(world, {})).toBeUndefined();
  expect((await rehearsed(world, gcp, rest))?.message).toContain(permission);
});

test('a service account that is not there is found before the first launch', async ({ world }) => {
  world.gce.grants.absentAccounts.add(serviceAccount);
  expect(await failureOf(rehearsed(world))).toMatchObject({
    code: 'KPU232',
    condition: 'PlacementReady',
    message: expect.stringContaining(serviceAccount) as string,
  });
});

test.for<[string, number]>([
  ['SERVICE_DISABLED', 403],
  ['rateLimitExceeded', 403],
  ['backendError', 503],
])(
  'a question that ends with %s says nothing; the others do',
  async ([code, status], { world }) => {
    world.iam.faults.next('projects.testIamPermissions', fault({ code, status }));
    world.gce.grants.withheld.add('compute.instances.create').add('compute.subnetworks.use');
    const { message } = (await rehearsed(world))!;
    expect(message).toContain('lacks compute.subnetworks.use');
    expect(message).not.toContain('compute.instances.create');
  },
);
