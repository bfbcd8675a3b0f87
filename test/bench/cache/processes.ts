/** The server and the two that read from it, each a process of its own, with the access that a Pod has. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';
import { request, Agent } from 'undici';

import { Authority } from '#pki/authority.ts';
import { freePort } from '#sandbox/processes/ports.ts';
import { untilReady } from '#sandbox/processes/ready.ts';
import type { Run } from '#sandbox/processes/run.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

import config from '../../../rolldown.config.ts';
import type { Measured } from './measure.ts';
import type { Mix } from './pods.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const accountFiles = 'var/run/secrets/kubernetes.io/serviceaccount';

export const readers = ['ours', 'client-node'] as const;
export type Reader = (typeof readers)[number];

/** Where an API server is, and a folder that looks like the root of a Pod that may read from it. */
export interface Target {
  readonly port: number;
  readonly root: string;
}

/** Bundles both readers into `dir` as the image's processes are bundled, so that neither pays for its many files. */
export async function bundle(dir: string): Promise<void> {
  const { output, input: _, ...options } = config as Exclude<typeof config, readonly unknown[]>;
  const input = Object.fromEntries(readers.map((name) => [name, join(here, `${name}.ts`)]));
  const build = await rolldown({ ...options, input });
  await build.write({ ...(Array.isArray(output) ? {} : output), dir, cleanDir: false });
  await build.close();
}

export async function startServer(
  run: Run,
  clock: Clock,
  { mix, pods }: { readonly mix: Mix; readonly pods: number },
): Promise<Target> {
  const authority = await Authority.create(clock, { commonName: mix, validity: hours(24) });
  const addresses = ['127.0.0.1'];
  const leaf = await authority.issue({ names: ['localhost'], addresses, validity: hours(24) });
  const root = join(run.dir, mix);
  await writeAccount(root, authority.pem.certificate, 'token');
  const [certificate, key] = [join(root, 'server.crt'), join(root, 'server.key')];
  await writeFile(certificate, leaf.certificate);
  await writeFile(key, leaf.privateKey, { mode: 0o600 });
  const port = await freePort();
  const args = [String(port), certificate, key, mix, String(pods)];
  const command = [process.execPath, join(here, 'server.ts'), ...args] as const;
  const server = run.start({ name: `server-${mix}`, command });
  const dispatcher = new Agent({ connect: { ca: authority.pem.certificate } });
  await untilReady(server, async () => answers(port, dispatcher), { clock });
  await dispatcher.close();
  return { port, root };
}

async function answers(port: number, dispatcher: Agent): Promise<boolean> {
  const url = `https://127.0.0.1:${port}/version`;
  const { statusCode, body } = await request(url, { dispatcher });
  await body.dump();
  return statusCode === 200;
}

/** The files that a Pod's ServiceAccount gives it, at their places under `root`. */
async function writeAccount(root: string, caPem: string, token: string): Promise<void> {
  const folder = join(root, accountFiles);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'ca.crt'), caPem);
  await writeFile(join(folder, 'token'), token, { mode: 0o600 });
  await writeFile(join(folder, 'namespace'), 'default');
}

/** The same from a folder that has them. */
export async function accountIn(root: string, folder: string): Promise<void> {
  await cp(folder, join(root, accountFiles), { recursive: true });
}

/** @throws Error with the end of its log when it measured nothing */
export async function read(
  run: Run,
  reader: Reader,
  { port, root, dir }: Target & { readonly dir: string },
): Promise<Measured> {
  const env = {
    ...process.env,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    KUBERNETES_SERVICE_ACCOUNT_DIR: join(root, accountFiles),
    ACCOUNT_ROOT: `${root}/`,
  };
  const command = [process.execPath, '--expose-gc', join(dir, `${reader}.js`)] as const;
  const reading = run.start({ name: reader, command, env });
  const { code } = await reading.exited;
  if (code !== 0) throw new Error(`${reader} failed\n${await reading.lastLines(20)}`);
  return JSON.parse(await reading.lastLines(1)) as Measured;
}
