import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { Authority } from '#pki/authority.ts';
import { hours, milliseconds, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { describeExit, LocalProcess } from '../../processes/local-process.ts';
import { PortTaken, saysPortTaken, withFreePort } from '../../processes/ports.ts';

/** An authority that speaks ACME, on loopback, which looks challenges up at one DNS server and refuses every fifth nonce. */
export class Pebble {
  readonly directoryURL: string;
  /** PEM of who signed its server's certificate, and of its own root: all that its users have to trust. */
  readonly ca: string;
  readonly #process: LocalProcess;
  readonly #folder: string;

  private constructor(
    given: { port: number; ca: string },
    { process, folder }: { process: LocalProcess; folder: string },
  ) {
    this.directoryURL = `https://localhost:${given.port}/dir`;
    this.ca = given.ca;
    this.#process = process;
    this.#folder = folder;
  }

  /**
   * @param dnsServer  `127.0.0.1:5353`
   * @param customers  keys in base64url by their id; with any, it opens accounts for them alone
   */
  static async start(
    program: string,
    dnsServer: string,
    customers: Readonly<Record<string, string>> = {},
  ): Promise<Pebble> {
    const clock = new SystemClock();
    const authority = await Authority.create(clock, { commonName: 'pebble', validity: hours(2) });
    const server = await authority.issue({ names: ['localhost'], validity: hours(1) });
    const folder = await mkdtemp(join(tmpdir(), 'pebble-'));
    await writeFile(join(folder, 'server.crt'), server.certificate);
    await writeFile(join(folder, 'server.key'), server.privateKey);
    return withFreePort(async (port) =>
      withFreePort(async (management) => {
        const config = join(folder, 'config.json');
        await writeFile(
          config,
          JSON.stringify(configuration(folder, { port, management, customers })),
        );
        const command = [program, '-config', config, '-dnsserver', dnsServer] as const;
        const env = {
          PATH: process.env['PATH'],
          PEBBLE_VA_NOSLEEP: '1',
          PEBBLE_WFE_NONCEREJECT: '20',
        };
        const log = join(folder, 'log');
        const running = LocalProcess.start({ name: 'pebble', command, env }, log);
        const root = await rootAt(
          `https://localhost:${management}/roots/0`,
          authority.pem.certificate,
          running,
        );
        const ca = `${authority.pem.certificate}\n${root}`;
        return new Pebble({ port, ca }, { process: running, folder });
      }),
    );
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

interface Settings {
  readonly port: number;
  readonly management: number;
  readonly customers: Readonly<Record<string, string>>;
}

function configuration(folder: string, { port, management, customers }: Settings): object {
  return {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'server.crt'),
      privateKey: join(folder, 'server.key'),
      httpPort: 5002,
      tlsPort: 5001,
      externalAccountBindingRequired: Object.keys(customers).length > 0,
      externalAccountMACKeys: customers,
    },
  };
}

/** Its root is another one each time it starts. */
async function rootAt(url: string, ca: string, running: LocalProcess): Promise<string> {
  const clock = new SystemClock();
  for (const until = clock.now() + seconds(20); clock.now() < until;) {
    // oxlint-disable-next-line no-await-in-loop -- asked until it answers
    const root = await read(url, ca).catch(() => undefined);
    if (root !== undefined) return root;
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (running.exit) await explain(running, describeExit(running.exit));
    // oxlint-disable-next-line no-await-in-loop -- as above
    await clock.sleep(milliseconds(50));
  }
  await running.stop();
  return explain(running, 'no answer within 20s');
}

async function read(url: string, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(url, { ca }, (response) => void text(response).then(resolve, reject)).on('error', reject);
  return promise;
}

async function explain(running: LocalProcess, how: string): Promise<never> {
  const log = await running.lastLines(30);
  if (saysPortTaken(log) || log.includes('address already in use')) throw new PortTaken(log);
  throw new Error(`pebble: ${how}\n${log}`);
}
