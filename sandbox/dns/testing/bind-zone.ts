import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { describeExit, LocalProcess } from '../../processes/local-process.ts';
import { PortTaken, saysPortTaken, withFreePort } from '../../processes/ports.ts';
import type { Bind } from '../../tools/bind.ts';

const run = promisify(execFile);
const shownTypes = new Set(['A', 'AAAA', 'CNAME', 'TXT']);

/** BIND on loopback with one zone, which `key` may update and `reader` may only read, or everybody where it is public. */
export class BindZone {
  readonly zone: string;
  readonly port: number;
  readonly #bind: Bind;
  readonly #key: TsigKey;
  readonly #process: LocalProcess;
  readonly #folder: string;

  private constructor(
    bind: Bind,
    given: { zone: string; key: TsigKey; port: number; process: LocalProcess; folder: string },
  ) {
    this.#bind = bind;
    this.zone = given.zone;
    this.port = given.port;
    this.#key = given.key;
    this.#process = given.process;
    this.#folder = given.folder;
  }

  static async start(
    bind: Bind,
    zone: string,
    { key, reader, isPublic = false }: { key: TsigKey; reader: TsigKey; isPublic?: boolean },
  ): Promise<BindZone> {
    const folder = await mkdtemp(join(tmpdir(), 'bind-'));
    await writeFile(join(folder, 'zone'), zoneFile);
    return withFreePort(async (port) => {
      const config = join(folder, 'named.conf');
      await writeFile(config, configuration(folder, port, zone, { keys: [key, reader], isPublic }));
      const env = bind.env as Record<string, string | undefined>;
      const command = [bind.named, '-g', '-n', '1', '-c', config] as const;
      const process = LocalProcess.start({ name: 'named', command, env }, join(folder, 'log'));
      const started = new BindZone(bind, { zone, key, port, process, folder });
      await started.#untilReady();
      return started;
    });
  }

  /** `name type value`, as BIND itself lists the zone, sorted. */
  async contents(): Promise<string[]> {
    const { name, algorithm, secret } = this.#key;
    const key = `${algorithm}:${name}:${secret.toString('base64')}`;
    const where = ['@127.0.0.1', '-p', String(this.port), '-y', key, '+onesoa'];
    const { stdout } = await run(
      this.#bind.dig,
      [...where, '+noall', '+answer', this.zone, 'AXFR'],
      { env: this.#bind.env },
    );
    return stdout
      .split('\n')
      .map((line) => /^(\S+)\.\s+\d+\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? [])
      .filter(([, , type = '']) => shownTypes.has(type))
      .map(([, owner, type, value = '']) => `${owner} ${type} ${value.replace(/\.$/, '')}`)
      .toSorted();
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    const clock = new SystemClock();
    for (const until = clock.now() + seconds(20); clock.now() < until;) {
      // oxlint-disable no-await-in-loop -- looked at again and again
      if (
        await this.contents().then(
          () => true,
          () => false,
        )
      )
        return;
      if (this.#process.exit) await this.#explain(describeExit(this.#process.exit));
      await clock.sleep(milliseconds(50));
      // oxlint-enable no-await-in-loop
    }
    await this.#process.stop();
    await this.#explain('no answer within 20s');
  }

  async #explain(how: string): Promise<never> {
    const log = await this.#process.lastLines(30);
    if (saysPortTaken(log) || log.includes('address in use')) throw new PortTaken(log);
    throw new Error(`named: ${how}\n${log}`);
  }
}

const zoneFile = `$TTL 60
@ IN SOA ns root 1 3600 600 86400 60
@ IN NS ns
ns IN A 127.0.0.1
`;

/** Without a pid file, a control channel and a cache of its own keys, which would want folders of the system. */
function configuration(
  folder: string,
  port: number,
  zone: string,
  { keys, isPublic }: { keys: readonly [writer: TsigKey, reader: TsigKey]; isPublic: boolean },
): string {
  const declared = keys.map(
    ({ name, algorithm, secret }) =>
      `key "${name}" { algorithm ${algorithm}; secret "${secret.toString('base64')}"; };`,
  );
  const all = keys.map(({ name }) => `key "${name}";`).join(' ');
  return `
options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; allow-query { ${isPublic ? 'any;' : all} }; allow-transfer { ${all} };
};
controls { };
${declared.join('\n')}
zone "${zone}" {
  type primary; file "${folder}/zone";
  update-policy { grant ${keys[0].name} zonesub ANY; };
};
`;
}
