import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isForbidden } from '#kube/client/errors.ts';
import { inClusterConnection } from '#kube/client/in-cluster.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { isWrite } from '#sandbox/control-plane/audit.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { readManifests } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import { configMaps, namespaces, secrets } from '#schemas/kubernetes/resource.ts';

let run: Run;
let plane: ControlPlane;

beforeAll(async () => {
  run = await Run.open('control-plane-test');
  plane = await ControlPlane.start({ tools: inject('tools'), run });
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

test("Karpenter's own CRDs are served as soon as they are applied", async () => {
  const crds = await readManifests(inject('tools').karpenterCrds);

  await applyAll(plane.admin, crds);
  const [pool] = await applyAll(plane.admin, [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'batch' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'example.com', kind: 'Machine', name: 'any' },
            requirements: [],
          },
        },
      },
    } as never,
  ]);

  expect(crds.map(({ metadata }) => metadata.name)).toContain('nodeclaims.karpenter.sh');
  expect(pool?.metadata.name).toBe('batch');
});

test('a kind that is not served is refused by name', async () => {
  const stranger = { apiVersion: 'example.com/v1', kind: 'Stranger', metadata: { name: 'x' } };

  await expect(applyAll(plane.admin, [stranger])).rejects.toThrow(
    'Stranger x: the API server does not serve example.com/v1 Stranger',
  );
});

test('a process can be a ServiceAccount, with its rights and no more', async () => {
  const folder = await plane.serviceAccountDirectory('default', 'default');
  const env = plane.environment(folder);
  const client = new UndiciKubeClient(await inClusterConnection({ env }));

  const refused = await client.list(secrets, { namespace: 'default' }).catch((error) => error);
  await client.close();

  expect(isForbidden(refused)).toBe(true);
  expect(await readFile(join(folder, 'namespace'), 'utf8')).toBe('default');
});

test('the audit log says who wrote what', async () => {
  const metadata = { namespace: 'default', name: 'audited' };
  await plane.admin.create(configMaps, { metadata, data: {} });
  await plane.admin.get(configMaps, metadata);

  const entries = (await plane.audit()).filter(({ name }) => name === 'audited');

  expect(entries.map(({ user, verb, code }) => ({ user, verb, code }))).toEqual([
    { user: 'admin', verb: 'create', code: 201 },
    { user: 'admin', verb: 'get', code: 200 },
  ]);
  expect(entries.filter(isWrite)).toHaveLength(1);
});

test('after an outage the API server is back at its address with all it held', async () => {
  await plane.admin.create(namespaces, { metadata: { name: 'kept' } });

  await plane.pauseApiServer();
  const during = await fetch(`${plane.server}/readyz`).catch((error: Error) => error.cause);
  await plane.resumeApiServer();

  expect(during).toMatchObject({ code: 'ECONNREFUSED' });
  expect((await plane.admin.get(namespaces, { name: 'kept' })).metadata.name).toBe('kept');
});
