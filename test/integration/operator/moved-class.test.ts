/** A node class that moves while machines of its old spec live: zone, region and Kraftlet's namespace. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { machineZone } from '#sandbox/cloud/cloud.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { nodeClass, nodePool, standaloneClaim, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const otherZone = 'moved.sandbox.test';
const otherNamespace = 'machines';
let world: TestWorld;

beforeAll(async () => {
  const settings = { KRAFTLET_NAMESPACES: `kraftlet,${otherNamespace}` };
  world = await TestWorld.start(inject('tools'), { settings });
  world.cloud.route53.zones.create(otherZone);
  await world.expectApplied(...namespaceOfReleases());
  await world.expectUsable(nodeClass());
});
afterAll(async () => world?.stop());

test('machines of the old spec are kept and unmade by it, those of the new one by that: nothing is left', async () => {
  await world.expectApplied(nodePool(), workload('StatefulSet', 'web', 1));
  const [old] = await world.expectClaims(1);
  await world.expectRunning('web', 1);
  await world.expectCondition(old!, 'Initialized', { status: 'True' });

  const { spec } = nodeClass();
  await world.expectApplied(
    nodeClass({
      aws: { ...spec.aws!, region: 'eu-west-1' },
      dns: { ...spec.dns, zone: otherZone },
      kraftlet: { ...spec.kraftlet, namespace: otherNamespace },
    }),
  );
  await world.eventually('the moved class in use', async () => {
    const { metadata, status } = await world.client.get(unikraftNodeClasses, { name: 'default' });
    return status?.observedGeneration === metadata.generation;
  });
  const [made] = await world.expectApplied(standaloneClaim('moved'));
  const moved = made as Live<NodeClaim>;
  await world.expectCondition(moved, 'Initialized', { status: 'True' });

  expect(await placeOf(old!)).toEqual({ region: 'eu-central-1', namespaces: ['kraftlet'] });
  expect(await placeOf(moved)).toEqual({ region: 'eu-west-1', namespaces: [otherNamespace] });
  expect(recordsIn(machineZone)).toBe(recordsIn(otherZone));
  expect(recordsIn(otherZone)).toBeGreaterThan(0);

  const { name = '' } = (await setsOf(old!))[0]?.metadata ?? {};
  await world.client.delete(statefulSets, { namespace: 'kraftlet', name });
  await world.eventually('its Kraftlet again, where it was', async () => {
    const [set] = await setsOf(old!);
    return set?.metadata.namespace === 'kraftlet' && set.status?.readyReplicas === 1;
  });
  await world.expectRunning('web', 1); // on the machine that is where it was

  const [oldId, movedId] = [await instanceOf(old!), await instanceOf(moved)];
  await world.expectDeleted(workload('StatefulSet', 'web', 0), nodePool(), old!, moved);
  await world.expectNoLeaks();
  expect(endedIn(oldId)).toEqual(new Set(['eu-central-1']));
  expect(endedIn(movedId)).toEqual(new Set(['eu-west-1']));
});

async function setsOf({ metadata }: Live<NodeClaim>) {
  const labelSelector = `${labels.claimUid}=${metadata.uid}`;
  return (await world.client.list(statefulSets, { labelSelector })).items;
}

async function placeOf(claim: Live<NodeClaim>) {
  const { providerID = '' } = (await world.claim(claim)).status ?? {};
  const namespaces = (await setsOf(claim)).map(({ metadata }) => metadata.namespace);
  return { region: parseProviderID(providerID)?.region, namespaces };
}

async function instanceOf(claim: Live<NodeClaim>): Promise<string> {
  return parseProviderID((await world.claim(claim)).status?.providerID ?? '')?.id ?? '';
}

/** Regions that the end of an instance was asked of. */
function endedIn(id: string): Set<string> {
  const calls = world.cloud.ec2.callsOf('TerminateInstances');
  const own = calls.filter(({ parameters }) => parameters.list('InstanceId').includes(id));
  return new Set(own.map(({ region }) => region));
}

/** Of machines: beside SOA and NS. */
function recordsIn(zone: string): number {
  const found = world.cloud.route53.zones.all.find(({ name }) => name.replace(/\.$/, '') === zone);
  return [...(found?.records.values() ?? [])].filter(({ type }) => !/^(SOA|NS)$/.test(type)).length;
}

/** What docs/reference/settings.md says of a further namespace. */
function namespaceOfReleases(): KubeObject[] {
  const metadata = { name: 'karpenter-unikraft-releases', namespace: otherNamespace };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const verbs = ['get', 'list', 'create', 'patch', 'delete'];
  const name = 'karpenter-unikraft-controller';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: otherNamespace } },
    {
      apiVersion,
      kind: 'Role',
      metadata,
      rules: [
        {
          apiGroups: [''],
          resources: ['secrets', 'configmaps', 'services', 'serviceaccounts'],
          verbs,
        },
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs },
        { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs },
      ],
    },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'karpenter-unikraft' }],
    },
  ] as KubeObject[];
}
