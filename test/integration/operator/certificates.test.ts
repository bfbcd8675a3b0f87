import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { CertManagerStandIn } from '#controller/testing/cert-manager.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { Authority } from '#pki/authority.ts';
import { newChain } from '#pki/testing/chains.ts';
import { Pebble } from '#sandbox/acme/testing/pebble.ts';
import { machineZone } from '#sandbox/cloud/cloud.ts';
import { readManifests } from '#sandbox/manifests/render.ts';
import { ensurePebble, MissingPebble } from '#sandbox/tools/pebble.ts';
import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { applySample, readSample } from '#sandbox/world/installation.ts';
import { certificates, clusterIssuers } from '#schemas/kubernetes/cert-manager.ts';
import { secrets, statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

const namespace = 'karpenter-unikraft';
const crds = fileURLToPath(new URL('cert-manager-crds.yaml', import.meta.url));
const realTime = { stamp: () => new Date().toISOString() };

/** Where it cannot be had its story is skipped, and says why; continuous integration has it. */
async function pebbleOrReason(): Promise<string | MissingPebble> {
  try {
    return await ensurePebble(new ScreenProgress(process.stderr, new SystemClock()));
  } catch (error) {
    if (error instanceof MissingPebble && process.env['CI'] !== 'true') return error;
    throw error;
  }
}
const pebbleProgram = await pebbleOrReason();
const why = pebbleProgram instanceof Error ? `, not told: ${pebbleProgram.message}` : '';

let world: TestWorld;
beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
});
afterAll(async () => world?.stop());

/** A Pod on a machine of the class runs, which it does only where Kraftlet believed the machine; and all of it goes again. */
async function expectMachineOf(name: string, look: () => Promise<void> = async () => {}) {
  await world.expectConditionOf(unikraftNodeClasses, name, 'Ready', { status: 'True' });
  const pool = nodePool({ name, nodeClass: name });
  const nodeSelector = { [labels.virtualKubelet]: 'true', [labels.nodePool]: name };
  const pod = optedInPod(name, { cpu: '1' }, { nodeSelector });
  await world.expectApplied(pool, pod);
  await world.expectScheduled(name);
  await look();
  await world.expectDeleted(pod, pool);
  for (const claim of await world.claims()) await world.expectDeleted(claim);
  await world.expectNoLeaks();
}

test('machines show a certificate of one’s own, which is told to be missing until it is there', async () => {
  const api = { mode: 'SecretRef' as const, secretRef: { name: 'machines-tls' } };
  const dns = nodeClass().spec.dns;
  const own = { dns: { ...dns, nameTemplate: '{{node}}.{{zone}}' }, certificate: { api } };
  await world.expectApplied(nodeClass(own, 'own'));
  const wanted = { status: 'False', reason: 'SecretNotFound' };
  await world.expectConditionOf(unikraftNodeClasses, 'own', 'CertificateReady', wanted);
  const { whole, root } = await newChain(realTime, [`*.${machineZone}`]);
  const data = { 'tls.crt': whole.certificate, 'tls.key': whole.privateKey, 'ca.crt': root };
  const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
  await world.client.create(secrets, {
    metadata: { name: 'machines-tls', namespace },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(encoded),
  });

  await expectMachineOf('own', async () => {
    const { items } = await world.client.list(secrets, { namespace });
    const shown = items.filter(({ data }) => data?.['tls.crt'] === btoa(whole.certificate));
    expect(shown.map(({ metadata }) => metadata.name)).toContainEqual(
      expect.stringMatching(/^own-.*-credentials$/),
    );
  });
});

test('machines that nobody checks run Pods too, and their class says so', async () => {
  await world.expectApplied(nodeClass({ certificate: { api: { mode: 'None' } } }, 'unchecked'));
  const wanted = { status: 'True', reason: 'MachinesNotChecked' };
  await world.expectConditionOf(unikraftNodeClasses, 'unchecked', 'CertificateReady', wanted);

  await expectMachineOf('unchecked', async () => {
    const [kraftlet] = (await world.client.list(statefulSets)).items;
    const [container] = kraftlet?.spec?.template.spec.containers ?? [];
    expect(container?.env).toContainEqual({ name: 'KRAFTLET_ALLOW_INSECURE', value: 'true' });
  });
});

test('machines get their certificates from cert-manager, once it and its issuer are there', async () => {
  const tools = inject('tools');
  await applySample(world.client, tools, 'cert-manager/2-nodeclass');
  const because = async (reason: string) =>
    world.expectConditionOf(unikraftNodeClasses, 'default', 'CertificateReady', {
      status: 'False',
      reason,
    });
  expect((await because('CertManagerNotFound')).message).toMatch(/\(KPU362\)$/);
  await world.expectApplied(...(await readManifests([crds])));
  await because('IssuerNotFound');
  await world.eventually('the issuer', async () => {
    await applySample(world.client, tools, 'cert-manager/1-issuer');
    return true;
  });
  await because('IssuerNotReady');
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KeyPairVerified' }];
  const ready = { type: 'merge', body: { status: { conditions } } } as const;
  await world.client.patch(clusterIssuers, { name: 'machines' }, ready, { subresource: 'status' });

  const authority = await Authority.create(realTime, { commonName: 'ca', validity: hours(72) });
  const certManager = new CertManagerStandIn(world.client, authority);
  const playing = setInterval(() => void certManager.act().catch(ignoreGone), 300);
  try {
    await expectMachineOf('default', async () => {
      const { items } = await world.client.list(certificates, { namespace });
      expect(items.map(({ spec }) => spec.issuerRef.name)).toEqual(['machines']);
    });
    expect((await world.client.list(certificates, { namespace })).items).toEqual([]);
  } finally {
    clearInterval(playing);
  }
});

test.skipIf(pebbleProgram instanceof Error)(
  `machines get their certificates by ACME from Pebble, and no challenge stays in the zone${why}`,
  async () => {
    if (pebbleProgram instanceof Error) throw pebbleProgram;
    const pebble = await Pebble.start(pebbleProgram, world.cloud.dnsServer);
    try {
      const [sample] = (await readSample(inject('tools'), 'acme')) as UnikraftNodeClass[];
      const { spec } = sample!;
      const { directoryURL } = pebble;
      const acme = { ...spec.certificate.api.acme, directoryURL, caSecretRef: { name: 'acme-ca' } };
      const certificate = { api: { ...spec.certificate.api, acme } };
      const changed: UnikraftNodeClass = {
        ...sample!,
        metadata: { name: 'acme' },
        spec: { ...spec, certificate },
      };
      await world.expectApplied(changed);
      const missing = { status: 'False', reason: 'SecretNotFound' };
      await world.expectConditionOf(unikraftNodeClasses, 'acme', 'CertificateReady', missing);
      await world.client.create(secrets, {
        metadata: { name: 'acme-ca', namespace },
        type: 'Opaque',
        data: { 'ca.crt': btoa(pebble.ca) },
      });

      await expectMachineOf('acme', async () => {
        const { items } = await world.client.list(secrets, { namespace });
        const made = items.find(({ metadata }) => /^acme-.*-credentials$/.test(metadata.name));
        expect(pebble.ca).toContain(atob(made?.data?.['ca.crt'] ?? 'none').trim());
        const names = world.cloud.route53.zones.all.flatMap(({ records }) => [...records.values()]);
        expect(names.filter(({ name }) => name.includes('_acme-challenge'))).toEqual([]);
      });
    } finally {
      await pebble.stop();
    }
  },
);

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
