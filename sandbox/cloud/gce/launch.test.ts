/** What the provider of machines makes of Compute Engine, and what Compute Engine makes of its calls. */
import { test as base, describe, expect } from 'vitest';

import { AttemptSpent, CreateError, LaunchUnderWay, OutcomeUnknown } from '#machine/errors.ts';
import { seconds } from '#schemas/time/clock.ts';

import { fault, lost, unheard } from '../wire/faults.ts';
import { failureOf, identityOf, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const zones = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'] as const;

describe('a launch', () => {
  test('is under way until its operation is done, and then is an instance', async ({ world }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    const instance = await world.launched();

    expect(instance).toMatchObject({
      id: 'uk-web',
      state: 'pending',
      instanceType: 'n2-standard-8',
      zone: zones[0],
      region: 'europe-west1',
      imageId: 'projects/unikraft-images/global/images/unikraft-platform-1',
      privateAddress: '127.64.0.1',
      tags: {
        Name: 'uk-web',
        'karpenter.unikraft.com/cluster': 'cluster-1',
        'karpenter.unikraft.com/nodeclaim-uid': 'uid-of-web',
        'karpenter.sh/nodeclaim': 'web.x7k2p',
        'karpenter.sh/nodepool': 'web.Pool',
      },
    });
    await world.clock.forward(seconds(10));
    expect(await world.snapshot()).toMatchObject([{ id: 'uk-web', state: 'running' }]);
    expect(world.power).toEqual(['on uk-web']);
    expect(world.gce.callsOf('instances.insert')).toHaveLength(1);
  });

  test('says all that Compute Engine has to know, and nothing that it does not', async ({
    world,
  }) => {
    world.nodeClass = await world.resolve(
      {
        serviceAccount: 'machines@sandbox-project.iam.gserviceaccount.com',
        networkTags: ['unikraft', 'machines'],
        disks: [
          { size: '20Gi' },
          {
            size: '1100M',
            type: 'pd-ssd',
            kmsKeyName: 'projects/p/locations/l/keyRings/r/cryptoKeys/k',
          },
        ],
      },
      {
        tags: { team: 'a' },
        dns: { provider: 'Route53', zone: 'm.test', addressType: 'External' },
      },
    );
    const { publicAddress } = await world.launched();
    expect(publicAddress).toBe('127.64.0.1');

    const [call] = world.gce.callsOf('instances.insert');
    const labels = {
      'karpenter-unikraft-com-cluster': 'cluster-1',
      'karpenter-unikraft-com-nodeclaim-uid': 'uid-of-web',
    };
    const diskTypes = `zones/${zones[0]}/diskTypes`;
    expect(call?.parameters.body).toEqual({
      name: 'uk-web',
      machineType: `zones/${zones[0]}/machineTypes/n2-standard-8`,
      advancedMachineFeatures: { enableNestedVirtualization: true },
      disks: [
        {
          boot: true,
          autoDelete: true,
          initializeParams: {
            sourceImage: 'projects/unikraft-images/global/images/unikraft-platform-1',
            diskSizeGb: '20',
            diskType: `${diskTypes}/pd-balanced`,
            labels,
          },
        },
        {
          boot: false,
          autoDelete: true,
          initializeParams: { diskSizeGb: '2', diskType: `${diskTypes}/pd-ssd`, labels },
          diskEncryptionKey: { kmsKeyName: 'projects/p/locations/l/keyRings/r/cryptoKeys/k' },
        },
      ],
      networkInterfaces: [
        {
          subnetwork: 'projects/sandbox-project/regions/europe-west1/subnetworks/machines',
          accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }],
        },
      ],
      scheduling: {
        provisioningModel: 'STANDARD',
        automaticRestart: false,
        onHostMaintenance: 'MIGRATE',
      },
      serviceAccounts: [
        {
          email: 'machines@sandbox-project.iam.gserviceaccount.com',
          scopes: ['https://www.googleapis.com/auth/cloud-platform'],
        },
      ],
      tags: { items: ['machines', 'unikraft'] },
      labels: {
        ...labels,
        'karpenter-sh-nodeclaim': 'web-x7k2p',
        'karpenter-sh-nodepool': 'web-pool',
        'karpenter-unikraft-com-unikraftnodeclass': 'default',
        team: 'a',
      },
      metadata: {
        items: [
          { key: 'karpenter-sh-nodeclaim', value: 'web.x7k2p' },
          { key: 'karpenter-sh-nodepool', value: 'web.Pool' },
          { key: 'karpenter-unikraft-com-cluster', value: 'cluster-1' },
          { key: 'karpenter-unikraft-com-nodeclaim-uid', value: 'uid-of-web' },
          {
            key: 'karpenter-unikraft-com-unikraftnodeclass',
            value: 'default',
          },
          {
            key: 'karpenter-unikraft-image',
            value: 'projects/unikraft-images/global/images/unikraft-platform-1',
          },
          { key: 'user-data', value: '#cloud-config\n' },
        ],
      },
    });
  });

  test.for([
    ['n1-standard-8', { minCpuPlatform: 'Intel Haswell' }, 'pd-balanced'],
    [
      'c3-standard-8',
      { advancedMachineFeatures: { enableNestedVirtualization: true } },
      'pd-balanced',
    ],
    [
      'n4-standard-8',
      { advancedMachineFeatures: { enableNestedVirtualization: true } },
      'hyperdisk-balanced',
    ],
    [
      'c3-highcpu-192-metal',
      { scheduling: { onHostMaintenance: 'TERMINATE' } },
      'hyperdisk-balanced',
    ],
  ] as const)(
    'T21: of %s says what its family takes',
    async ([instanceType, said, disk], { world }) => {
      const metal = instanceType.endsWith('-metal');
      await world.launched({ instanceType, metal });

      const [call] = world.gce.callsOf('instances.insert');
      expect(call?.parameters.body).toMatchObject({
        ...said,
        disks: [{ initializeParams: { diskType: `zones/${zones[0]}/diskTypes/${disk}` } }],
      });
      expect(call?.parameters.body).not.toHaveProperty('scheduling.instanceTerminationAction');
      const isNested = Object.hasOwn(call?.parameters.body as object, 'advancedMachineFeatures');
      expect(isNested).toBe(!metal);
    },
  );

  test('whose answer was lost is asked for again under the same id, and made once', async ({
    world,
  }) => {
    world.gce.faults.next('instances.insert', lost());
    world.gce.faults.next('instances.insert', unheard());
    world.gce.faults.next('instances.insert', fault({ code: 'backendError', status: 503 }));
    for (const _ of [1, 2, 3])
      expect(await failureOf(world.launch())).toBeInstanceOf(OutcomeUnknown);

    expect(await world.launched()).toMatchObject({ id: 'uk-web' });
    expect(world.gce.instances.made).toBe(1);
    const ids = world.gce
      .callsOf('instances.insert')
      .map(({ parameters }) => parameters.query.get('requestId'));
    expect(new Set(ids).size).toBe(1);
  });

  test('T1: by a process that has just started finds what the one before it began', async ({
    world,
  }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    world.restart();
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    await world.clock.forward(seconds(5));
    world.restart();

    expect(await world.find()).toMatchObject([{ id: 'uk-web', state: 'pending' }]);
    expect(await world.launch()).toMatchObject({ id: 'uk-web' });
    expect(world.gce.instances.made).toBe(1);
  });

  test('T3: whose operation cannot be asked for goes on; nothing is inserted twice', async ({
    world,
  }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    const aim = { code: 'backendError', status: 503, times: 3 };
    world.gce.faults.next('zoneOperations.get', fault(aim));

    expect(await failureOf(world.find())).toBeInstanceOf(OutcomeUnknown);
    expect(await failureOf(world.launch())).toBeInstanceOf(OutcomeUnknown);
    expect(await failureOf(world.launch())).toBeInstanceOf(OutcomeUnknown);
    expect(await world.launched()).toMatchObject({ id: 'uk-web' });
    expect(world.gce.callsOf('instances.insert')).toHaveLength(1);
    expect(world.gce.instances.made).toBe(1);
  });

  test('is seen for what it is also by whoever looks for it', async ({ world }) => {
    expect(await failureOf(world.launch())).toBeInstanceOf(LaunchUnderWay);
    expect(await failureOf(world.find())).toBeInstanceOf(LaunchUnderWay);
    world.restart(); // which knows nothing of the operation
    await world.clock.forward(seconds(3));
    expect(world.gce.instances.visible).toHaveLength(1); // PROVISIONING, and may vanish again
    expect(await failureOf(world.find())).toBeInstanceOf(LaunchUnderWay);
    await world.clock.forward(seconds(3));
    expect(await world.find()).toMatchObject([{ state: 'pending' }]);
  });

  test('whose instance is gone already needs another attempt, which makes another', async ({
    world,
  }) => {
    const first = await world.launched();
    world.gce.instances.vanish(first.zone, first.id);
    await world.clock.forward(seconds(2));

    expect(await failureOf(world.launch())).toBeInstanceOf(AttemptSpent);
    expect(await world.launched({ attempt: 2 })).toMatchObject({ id: 'uk-web' });
    expect(world.gce.instances.made).toBe(2);
  });

  test('whose name is taken adopts its own instance and leaves a stranger alone', async ({
    world,
  }) => {
    await world.launched();
    const own = await world.launched({ attempt: 2 }); // another id, as after a lost memory
    expect(own).toMatchObject({ id: 'uk-web' });
    const stranger = { ...identityOf('web', 'cluster-2'), claimUid: 'another' };
    const error = await failureOf(world.launched({}, stranger));
    expect(error).toBeInstanceOf(CreateError);
    expect(error).toMatchObject({ reason: 'NameTaken' });
    expect(world.gce.instances.all).toHaveLength(1);
    expect(world.gce.callsOf('instances.delete')).toEqual([]);
  });
});
