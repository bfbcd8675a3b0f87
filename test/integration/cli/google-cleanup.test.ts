import { readFileSync } from 'node:fs';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

import { computeMethods } from '#machine/cloud/gcp/methods.ts';
import { dnsMethods } from '#machine/dns/clouddns/api.ts';
import { fault } from '#sandbox/cloud/wire/faults.ts';
import { minutes } from '#schemas/time/clock.ts';

import { SharedProject } from './google.ts';

const [ours, theirs] = ['cluster-1', 'cluster-2'] as const;
let project: SharedProject;
beforeEach(async () => {
  project = await SharedProject.open(vi.stubEnv);
});
afterEach(async () => {
  await project.close();
  vi.unstubAllEnvs();
});

/** Two machines of ours, one of which would leave its disk, and one of another cluster. */
async function machines(): Promise<void> {
  await project.machine(ours, 'web-1');
  await project.machine(ours, 'web-2', true);
  await project.machine(theirs, 'web-3', true);
}

const foreign = {
  instances: ['uk-web-3 RUNNING'],
  disks: ['uk-web-3'],
  records: ['api.web-3.machines.google.test.'],
};

test('what one cluster left is shown, and nothing is changed until it is confirmed', async () => {
  await machines();
  const before = project.contents();

  const { done, said } = await project.clean(ours, false);

  expect(done).toBe(true);
  expect(said).toMatch(
    /INSTANCE +TYPE +STATE +ZONE +CLAIM\neurope-west1-b\/uk-web-1 +n2-standard-8 +running +europe-west1-b +web-1\.x7k2p/,
  );
  expect(said).toMatch(/europe-west1-b\/uk-web-2 +ready +europe-west1-b +uk-web-2$/m);
  expect(said).toContain('api.web-1.machines.google.test');
  expect(said).not.toContain('web-3');
  expect(project.contents()).toEqual(before);
});

test('all of it goes, to the disk that outlives its machine, and what others have stays', async () => {
  await machines();

  const { done, said } = await project.clean(ours);

  expect(said).toContain('All of it is removed');
  expect(done).toBe(true);
  expect(project.contents()).toEqual(foreign);
  const again = await project.clean(ours);
  expect(again.said).toContain('Nothing of cluster');
});

test('nothing is removed where a zone cannot be reached, or a page of disks or names is missing', async () => {
  await machines();
  const before = project.contents();
  const { gce } = project.world;
  const away = { code: 'backendError', status: 503 };

  gce.instances.unreachable.add('europe-west1-c');
  expect(await project.clean(ours)).toMatchObject({ done: false });
  gce.instances.unreachable.clear();
  gce.faults.next('disks.aggregatedList', fault(away));
  expect((await project.clean(ours)).said).toMatch(
    /disks in project .* could not be read[^]*KPU601/,
  );
  project.dns.faults.next('resourceRecordSets.list', fault(away));
  expect((await project.clean(ours)).said).toContain('KPU601');

  expect(project.contents()).toEqual(before);
});

test('a protected machine stays and is named, the others end, and the same command goes on from there', async () => {
  await machines();
  const [first] = project.world.gce.instances.all;
  Object.assign(first!.launch, { protectedFromDeletion: true });

  const stopped = await project.clean(ours);

  expect(stopped.done).toBe(false);
  expect(stopped.said).toMatch(/uk-web-1 is still there: .*KPU331[^]*KPU602/);
  expect(project.contents().instances).toEqual(['uk-web-1 RUNNING', 'uk-web-3 RUNNING']);
  expect(project.contents().disks).toContain('uk-web-2'); // parts come after

  Object.assign(first!.launch, { protectedFromDeletion: false });
  expect(await project.clean(ours)).toMatchObject({ done: true });
  expect(project.contents()).toEqual(foreign);
});

test('a machine that somebody is stopping goes in the same run, once it has stopped', async () => {
  await machines();
  const { gce, clock } = project.world;
  const [first] = gce.instances.all;
  first!.status = 'STOPPING'; // a stop, which no delete follows by itself
  clock.after(minutes(1), () => gce.instances.halt('europe-west1-b', 'uk-web-1', 'TERMINATED'));

  const { done, said } = await project.clean(ours);

  expect(said).toContain('All of it is removed');
  expect(done).toBe(true);
  expect(project.contents()).toEqual(foreign);
});

test('the role of the documentation allows every call of the command, and nothing else', async () => {
  await machines();
  const { gce } = project.world;
  const from = [gce.calls.length, project.dns.calls.length] as const;
  await project.clean(ours);
  const called = new Set([
    ...gce.calls.slice(from[0]).map(({ action }) => `compute.${action}`),
    ...project.dns.calls.slice(from[1]).map(({ action }) => `dns.${action}`),
  ]);
  const methods = [...Object.values(computeMethods), ...Object.values(dnsMethods)];
  const needed = methods
    .filter(({ id }) => called.has(id))
    .flatMap(({ permissions }) => permissions);
  const file = new URL('../../../docs/tasks/gcp-cleanup-role.yaml', import.meta.url);
  const role = parse(readFileSync(file, 'utf8')) as { includedPermissions: string[] };
  expect(role.includedPermissions).toEqual([...new Set(needed)].toSorted());
});
