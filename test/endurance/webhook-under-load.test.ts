import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';

import { certificatesIn } from '#pki/certificate.ts';
import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { Run } from '#sandbox/processes/run.ts';
import { pods, secrets } from '#schemas/kubernetes/resource.ts';
import { milliseconds, minutes, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import {
  InstalledWebhook,
  kubectl,
  type Replica,
} from '#test/integration/webhook/installed-webhook.ts';
import { inject_, podWith } from '#test/integration/webhook/pods.ts';
import { distrust, SteadyLoad, type LoadReport } from '#test/integration/webhook/steady-load.ts';
import { mutatingWebhookConfigurations } from '#webhook/certificate/ca-bundle.ts';

/** Three replicas and a real API server, called 50 times a second, while the webhook changes under its feet. */

const tools = inject('tools');
const clock = new SystemClock();
const caSecret = { namespace: 'karpenter-unikraft', name: 'karpenter-unikraft-webhook-ca' };
/** A CA is followed after 34 s, and forgotten 17 s after that. */
const short = { authority: seconds(48), leaf: seconds(7.5), settle: seconds(2) };
const within = { timeout: 20_000, interval: 100 };
let run: Run;
let plane: ControlPlane;
let webhook: InstalledWebhook;
let replicas: Replica[];

beforeAll(async () => {
  run = await Run.open('webhook-load-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  webhook = await InstalledWebhook.install(plane, tools, clock);
});

afterAll(async () => {
  await webhook?.stop();
  await plane?.stop();
  await run?.close();
});

async function startReady(
  options: Parameters<InstalledWebhook['startReplica']>[0] = {},
): Promise<Replica> {
  const replica = await webhook.startReplica(options);
  await vi.waitFor(async () => expect(await replica.ready()).toMatch(/\nok\n$/), within);
  return replica;
}

async function startThree(options?: Parameters<typeof startReady>[0]): Promise<void> {
  replicas = await Promise.all([1, 2, 3].map(async () => startReady(options)));
  await vi.waitFor(async () => {
    const pod = podWith({ labels: { [inject_]: 'true' } });
    expect((await plane.admin.create(pods, pod, { dryRun: true })).spec?.nodeSelector).toBeTruthy();
  }, within);
}

async function stopAll(): Promise<void> {
  await Promise.all(replicas.map(async (replica) => replica.stop()));
}

/** Calls that the API server gave up, by reason, as its own metrics count them. */
async function givenUp(): Promise<string[]> {
  const metrics = await kubectl(plane, tools, ['get', '--raw', '/metrics']);
  const series = /^apiserver_admission_webhook_(fail_open_count|rejection_count)\{.*unikraft/;
  return metrics.split('\n').filter((line) => series.test(line));
}

async function duringLoad(action: () => Promise<void>): Promise<LoadReport> {
  const before = await givenUp();
  const load = SteadyLoad.start(plane.admin, clock);
  try {
    await action();
  } finally {
    await load.end();
  }
  expect(await givenUp()).toEqual(before);
  return load.end();
}

async function apiServerSaid(what: RegExp): Promise<string[]> {
  const logs = join(run.dir, 'logs');
  const files = (await readdir(logs)).filter((file) => file.startsWith('kube-apiserver'));
  const texts = await Promise.all(files.map(async (file) => readFile(join(logs, file), 'utf8')));
  return texts.flatMap((text) => text.split('\n')).filter((line) => what.test(line));
}

test('B20: each of three replicas is replaced in turn, and no call fails', async () => {
  await startThree();
  const { sent, failures } = await duringLoad(async () => {
    for (const old of replicas.splice(0)) {
      replicas.push(await startReady()); // oxlint-disable-line no-await-in-loop -- in turn is the point
      await old.stop(); // oxlint-disable-line no-await-in-loop
      await clock.sleep(milliseconds(500)); // oxlint-disable-line no-await-in-loop
    }
  });
  expect(sent).toBeGreaterThan(100);
  expect(failures).toEqual([]);
});

test('its Secret is deleted: it is back at once, with the same CA, and no call fails', async () => {
  const { data } = await plane.admin.get(secrets, caSecret);
  const { failures } = await duringLoad(async () => {
    await plane.admin.delete(secrets, caSecret);
    await vi.waitFor(async () => {
      expect((await plane.admin.get(secrets, caSecret)).data).toEqual(data);
    }, within);
    await clock.sleep(seconds(2));
  });
  expect(failures).toEqual([]);
  await stopAll();
  await plane.admin.delete(secrets, caSecret);
});

test(
  'the CA and all leaves are renewed again and again, and nobody who reads the configurations with a delay ever distrusts',
  async () => {
    await startThree({ lifetimes: short });
    const bundles: { readonly at: number; readonly ca: string }[] = [];
    const problems: string[] = [];
    const { sent, failures } = await duringLoad(async () => {
      const end = clock.now() + seconds(80);
      const [first = ''] = certificatesIn(await liveBundle());
      while (clock.now() < end && (bundles.at(-1)?.ca ?? first).includes(first)) {
        // oxlint-disable-next-line no-await-in-loop -- ten times a second
        bundles.push({ at: clock.now(), ca: await liveBundle() });
        // as it was one and a half seconds ago: still before the first leaf that needs what is new
        const late = bundles.findLast(({ at }) => at <= clock.now() - milliseconds(1500));
        // oxlint-disable-next-line no-await-in-loop -- as above
        const problem = late && (await distrust(webhook.port, late.ca));
        if (problem !== undefined) problems.push(problem);
        await clock.sleep(milliseconds(100)); // oxlint-disable-line no-await-in-loop
      }
    });
    expect({ failures, problems }).toEqual({ failures: [], problems: [] });
    expect(await apiServerSaid(/x509|bad certificate|failed calling webhook/)).toEqual([]);
    expect(sent).toBeGreaterThan(1000);

    const counts = bundles.map(({ ca }) => certificatesIn(ca).length);
    expect(Math.max(...counts)).toBeGreaterThanOrEqual(2);
    const [first] = certificatesIn(bundles[0]?.ca ?? '');
    expect(certificatesIn(bundles.at(-1)?.ca ?? '')).not.toContain(first);
  },
  minutes(3),
);

async function liveBundle(): Promise<string> {
  const name = 'karpenter-unikraft';
  const { webhooks = [] } = await plane.admin.get(mutatingWebhookConfigurations, { name });
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString('utf8');
}
