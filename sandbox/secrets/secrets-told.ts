import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { silentLogger } from '#kube/log.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { events, keyText, secrets } from '#schemas/kubernetes/resource.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { KnownSecrets, type Told } from './known-secrets.ts';

/** Programs that the project did not write, and machines, which are told secrets and keep what they were told. */
const notOurs = /^(etcd|kube-|machine-)/;
/** How user data begins; whoever shows it shows this too. */
const userData = '#cloud-config';

export interface SecretsToldParts {
  /** May read every Secret and Event. */
  readonly client: KubeClient;
  /** Of the run: logs of its programs, and tokens of ServiceAccounts. Absent: all is heard. */
  readonly dir?: string;
  /** What no Secret holds: by what it is of. */
  readonly more?: Readonly<Record<string, string>>;
}

/**
 * Whether a secret of a cluster stands in a log or an Event. It watches all Secrets from its start on, since those of
 * machines end with them.
 */
export class SecretsTold {
  readonly #parts: SecretsToldParts;
  readonly #known = new KnownSecrets();
  readonly #heard = new Map<string, string[]>();
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;

  private constructor(parts: SecretsToldParts) {
    this.#parts = parts;
    this.#known.add('user data', userData);
    for (const [of, value] of Object.entries(parts.more ?? {})) this.#known.add(of, value);
    const options = { clock: new SystemClock(), log: silentLogger };
    const watched = new SharedInformer<Secret>(parts.client, secrets, options);
    const learn = (secret: Secret): void => this.#learn(secret);
    watched.subscribe({ add: learn, update: learn });
    this.#watching = watched.run(this.#end.signal);
  }

  static watch(parts: SecretsToldParts): SecretsTold {
    return new SecretsTold(parts);
  }

  /** How many secrets it has seen: a search for none finds none. */
  get known(): number {
    return this.#known.size;
  }

  /** A line of a program that writes to no file. */
  hear(program: string, line: string): void {
    const lines = this.#heard.get(program) ?? [];
    this.#heard.set(program, lines);
    lines.push(line);
  }

  /** Everything that was told until now. */
  async search(): Promise<Told[]> {
    const { dir } = this.#parts;
    if (dir !== undefined) await this.#learnTokens(dir);
    const told = [...this.#heard].flatMap(([program, lines]) =>
      this.#known.in(lines.join('\n'), `log of ${program}`),
    );
    const inLogs = dir === undefined ? [] : await this.#inLogs(dir);
    return [...told, ...inLogs, ...(await this.#inEvents())];
  }

  /** Whatever a story was about. @throws {Error} that names each secret that was told, and where */
  async expectNone(): Promise<void> {
    const told = await this.search();
    if (told.length === 0) return;
    const lines = told.map(({ secret, where }) => `${secret} in ${where}`);
    throw new Error(`secrets were told:\n${lines.join('\n')}`);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  #learn({ metadata = {}, data = {} }: Secret): void {
    const of = `Secret ${keyText({ namespace: '', name: '', ...metadata })}`;
    for (const [key, encoded] of Object.entries(data)) {
      this.#known.add(`${of} ${key}`, Buffer.from(encoded, 'base64').toString('utf8'));
    }
  }

  async #learnTokens(cwd: string): Promise<void> {
    for await (const file of glob('control-plane/service-accounts/*/*/token', { cwd })) {
      const account = file.split('/').slice(2, 4).join('/');
      this.#known.add(
        `token of ServiceAccount ${account}`,
        await readFile(join(cwd, file), 'utf8'),
      );
    }
  }

  async #inLogs(cwd: string): Promise<Told[]> {
    const told: Told[] = [];
    for await (const file of glob('logs/*.log', { cwd })) {
      const program = basename(file, '.log');
      if (notOurs.test(program)) continue;
      const text = await readFile(join(cwd, file), 'utf8');
      told.push(...this.#known.in(text, `log of ${program}`));
    }
    return told;
  }

  async #inEvents(): Promise<Told[]> {
    const { items } = await this.#parts.client.list(events);
    return items.flatMap(({ metadata, reason, message, ...rest }) =>
      this.#known.in(
        `${message} ${JSON.stringify(rest)}`,
        `Event ${reason} ${keyText({ namespace: '', ...metadata })}`,
      ),
    );
  }
}
