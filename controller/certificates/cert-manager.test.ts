import { beforeEach, describe, expect, test } from 'vitest';

import { certificateName } from '#machine/certificate/cert-manager.ts';
import { certificates, clusterIssuers, issuers } from '#schemas/kubernetes/cert-manager.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { CertManagerStandIn } from '../testing/cert-manager.ts';
import { ClaimWorld, noLeaks } from '../testing/claim-world.ts';
import { NodeClassWorld } from '../testing/node-class-world.ts';
import { notFound } from '../testing/refusals.ts';

const api = { mode: 'CertManager', issuerRef: { name: 'machines' } } as const;
const spec: Partial<UnikraftNodeClassSpec> = { certificate: { api } };
const served = { resources: [{ name: 'certificates' }] };

describe('a node class whose machines get their certificates from cert-manager', () => {
  let world: NodeClassWorld;
  beforeEach(() => {
    world = new NodeClassWorld();
    world.client.paths.set('/apis/cert-manager.io/v1', served);
  });
  const ready = (status: Condition['status'], message = ''): { conditions: Condition[] } => ({
    conditions: [{ type: 'Ready', status, reason: 'x', message }],
  });
  const why = (): string => world.condition('CertificateReady')?.message ?? '';

  test('is ready once its issuer is', async () => {
    await world.apply(spec);
    expect(world.condition('CertificateReady')?.reason).toBe('IssuerNotFound');
    expect(why()).toBe('ClusterIssuer machines does not exist (KPU362)');
    const issuer = { metadata: { name: 'machines' } };
    world.client.seed(clusterIssuers, { ...issuer, status: ready('False', 'no account yet') });
    await world.forwardAndLook(seconds(6));
    expect(why()).toBe('ClusterIssuer machines is not ready: no account yet (KPU362)');
    world.client.seed(clusterIssuers, { ...issuer, status: ready('True') });
    await world.forwardAndLook(seconds(6));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('may name an issuer of the operator’s own namespace', async () => {
    const issuerRef = { name: 'machines', kind: 'Issuer' };
    await world.apply({ certificate: { api: { ...api, issuerRef } } });
    expect(why()).toMatch(/Issuer machines does not exist in namespace karpenter-unikraft/);
    const metadata = { name: 'machines', namespace: world.namespace };
    world.client.seed(issuers, { metadata, status: ready('True') });
    await world.forwardAndLook(seconds(6));
    expect(world.condition('Ready')?.status).toBe('True');
  });

  test('is told that there is no cert-manager, and knows nothing of issuers of others', async () => {
    const issuerRef = { name: 'pca', kind: 'PcaIssuer', group: 'pca.example.com' };
    world.client.paths.clear();
    await world.apply({ certificate: { api: { ...api, issuerRef } } });
    expect(world.condition('CertificateReady')?.reason).toBe('CertManagerNotFound');
    expect(why()).toMatch(/cert-manager is not installed \(KPU362\)$/);
    world.client.paths.set('/apis/cert-manager.io/v1', served);
    await world.forwardAndLook(seconds(6));
    expect(world.condition('Ready')?.status).toBe('True');
  });
});

describe('a machine whose certificate comes from cert-manager', () => {
  let world: ClaimWorld;
  let certManager: CertManagerStandIn;
  beforeEach(async () => {
    world = await ClaimWorld.make();
    world.useSpec(spec);
    certManager = new CertManagerStandIn(world.client, world.authority);
  });
  const message = (): string | undefined => world.condition('CertificateReady')?.message;

  test('waits for it, has it in its own Secret, and takes all of it along when it goes', async () => {
    await world.claim();
    await world.look();
    expect(message()).toMatch(/cert-manager has not begun \(KPU363\)$/);
    expect(world.cloud.alive).toHaveLength(0);
    const [ordered] = world.client.all(certificates);
    expect(ordered?.metadata).not.toHaveProperty('ownerReferences'); // ADR 30
    expect(ordered?.spec).toMatchObject({
      dnsNames: [expect.stringMatching(/^api\.web-.*\.machines\.example\.com$/)],
      issuerRef: { name: 'machines', kind: 'ClusterIssuer', group: 'cert-manager.io' },
      renewBefore: '5m',
    });

    await certManager.act();
    await world.initialized();
    const made = world.client.all(secrets).find(({ metadata }) => metadata.name.endsWith('-tls'));
    const own = world.client
      .all(secrets)
      .find(({ metadata }) => metadata.name.endsWith('-credentials'));
    expect(own?.data?.['tls.crt']).toBe(made?.data?.['tls.crt']);
    expect(made?.metadata.labels?.[labels.claimUid]).toBe(world.find()?.metadata.uid);

    await world.delete();
    await world.gone();
    expect(world.client.all(certificates)).toEqual([]);
    expect(world.leaks()).toEqual(noLeaks);
  });

  test('tells what cert-manager says of a failure, asks seldom, and ends by its deadline', async () => {
    certManager.refusal = 'the issuer does not allow this name';
    await world.claim();
    await world.look();
    await certManager.act();
    await world.until(() => message()?.includes('does not allow') === true);
    expect(message()).toMatch(/does not allow this name \(KPU364\)$/);
    const asked = world.client.calls.length;
    await world.clock.forward(minutes(6));
    await world.gone();
    expect(world.client.calls.length - asked).toBeLessThan(120);
    expect(world.client.all(certificates)).toEqual([]);
    expect(world.leaks()).toEqual(noLeaks);
  });

  test('never takes a Certificate or Secret of its name that was made for another', async () => {
    await world.claim();
    await world.look();
    const [ordered] = world.client.all(certificates);
    const { name, namespace = '' } = ordered!.metadata;
    world.client.remove(certificates, { namespace, name });
    const others = {
      ...ordered!,
      metadata: { name, namespace, labels: { [labels.claimUid]: 'x' } },
    };
    world.client.seed(certificates, others);
    await world.until(() => message()?.includes('was not made for this machine') === true);
    await world.delete();
    await world.gone();
    expect(world.client.all(certificates)).toHaveLength(1);
  });

  test('waits when the kind is gone again', async () => {
    const gone = notFound(certificates, certificateName('x'));
    world.client.fail(({ verb, plural }) => verb === 'create' && plural === 'certificates', gone);
    await world.claim();
    await world.look();
    expect(message()).toMatch(/No Certificate can be made: .*\(KPU362\)$/);
  });
});
