import { beforeEach, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { certificateName } from '#machine/certificate/cert-manager.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { certificates } from '#schemas/kubernetes/cert-manager.ts';
import { nodes, secrets, statefulSets } from '#schemas/kubernetes/resource.ts';
import { machineName } from '#schemas/machine-name.ts';
import { labels } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../testing/claim-world.ts';
import { nodeClassSpec } from '../testing/objects.ts';
import { LeftoverCollector } from './collector.ts';
import { Places } from './everywhere.ts';
import { Telling } from './telling.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
  const { kraftlet } = nodeClassSpec();
  world.useSpec({ kraftlet: { ...kraftlet, namespace: world.namespace } });
  await world.claim();
  await world.initialized();
});

/** A Node whose Kraftlet is gone is not Ready for long. */
function silence(): void {
  const conditions = [{ type: 'Ready', status: 'Unknown' as const }];
  for (const node of world.nodes) {
    world.client.seed(nodes, { ...node, status: { ...node.status, conditions } });
  }
}

/** What is deleted from now on, in order: `secrets kraftlet/web-1`. */
function deletions(): () => string[] {
  const { length } = world.client.calls;
  return () =>
    world.client.calls
      .slice(length)
      .filter(({ verb }) => verb === 'delete')
      .map(({ plural, key }) => `${plural} ${key}`);
}

/** cert-manager makes the Secret of a Certificate that is there, as often as it is not. */
function certManager(): () => number {
  const { client, namespace } = world;
  const claim = world.find()!;
  const metadata = {
    name: certificateName(machineName(claim)),
    namespace,
    labels: { [labels.claimUid]: claim.metadata.uid },
  };
  client.seed(certificates, { metadata, spec: { secretName: metadata.name } } as never);
  let made = 0;
  return () => {
    if (client.peek(certificates, metadata) && !client.peek(secrets, metadata)) {
      client.seed(secrets, { metadata, data: {} });
      made += 1;
    }
    return made;
  };
}

test('in the namespace that Kraftlet shares with the operator, what a machine is reached with goes last', async () => {
  const own = `secrets ${world.namespace}/${machineName(world.find()!)}-credentials`;
  const release = `secrets ${world.namespace}/${machineName(world.find()!)}`;
  const deleted = deletions();
  await world.delete();
  await world.gone();
  const order = deleted();
  expect(world.leaks()).toEqual(noLeaks);
  expect(order.filter((one) => one === own)).toHaveLength(1);
  const node = order.findIndex((one) => one.startsWith(nodes.plural));
  expect(order.indexOf(release)).toBeLessThan(node);
  expect(order.indexOf(own)).toBeGreaterThan(node);
});

test('and so it does when its claim was torn off, cert-manager being asked no second time', async () => {
  const machine = machineName(world.find()!);
  const { client, clock, context, cloud, dns, namespace } = world;
  const act = certManager();
  const places = new Places(context, { for: async () => cloud, dns: async () => dns }, [
    'kraftlet',
    namespace,
  ]);
  const telling = new Telling(context, new Metrics());
  const collector = new LeftoverCollector(context, async () => places.all(), telling);
  client.remove(nodeClaims, { name: 'web-1' });
  const deleted = deletions();
  for (let round = 0; round < 12; round++) {
    act();
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await collector.collect(new AbortController().signal);
    // oxlint-disable-next-line no-await-in-loop
    await clock.forward(minutes(5));
    // oxlint-disable-next-line no-await-in-loop
    await world.kraftlets.act();
    if (client.all(statefulSets).length === 0) silence();
  }
  expect({ ...world.leaks(), reservations: 0 }).toEqual(noLeaks);
  expect(act()).toBe(1);
  const order = deleted().filter((one) => !/^(services|configmaps|serviceaccounts)/.test(one));
  expect(order).toEqual([
    `statefulsets ${namespace}/${machine}`,
    `poddisruptionbudgets ${namespace}/${machine}`,
    `secrets ${namespace}/${machine}`,
    `clusterrolebindings ${machine}`,
    `nodes ${machine}`,
    `certificates ${namespace}/${certificateName(machine)}`,
    expect.stringContaining('secrets'),
    expect.stringContaining('secrets'),
  ]);
});
