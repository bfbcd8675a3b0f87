import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';

import type { Logger } from '#kube/log.ts';
import { Authority } from '#pki/authority.ts';
import type { PemPair } from '#pki/certificate.ts';
import { hours, type Clock, type Instant } from '#schemas/time/clock.ts';

import type { Surroundings } from './call.ts';
import { checksAt, type MachineScript } from './health.ts';
import { type ApiAnswer, Platform } from './platform.ts';
import { type MachineSettings, readUserData } from './user-data.ts';

export interface MachineSpec {
  /** The instance's own loopback address. */
  readonly address: string;
  readonly userData: string;
  /** Where it finds its cloud; absent: nowhere. */
  readonly surroundings?: Surroundings | undefined;
  readonly script: MachineScript;
}

/**
 * A machine that boots: everything it is it takes from its user data, so that what the operator renders is what
 * is tested. With user data that it cannot read it never answers, as the real one would not.
 */
export class Machine {
  readonly #spec: MachineSpec;
  readonly #clock: Clock;
  readonly #log: Logger;
  #server: Server | undefined;
  #timers: (() => void)[] = [];
  #off = new AbortController();

  constructor(spec: MachineSpec, { clock, log }: { clock: Clock; log: Logger }) {
    this.#spec = spec;
    this.#clock = clock;
    this.#log = log;
  }

  powerOn(): void {
    const { boot, diesAfter, health } = this.#spec.script;
    if (health !== 'mute')
      this.#timers.push(this.#clock.after(boot, () => void this.#boot(this.#timers)));
    if (diesAfter !== undefined) {
      this.#timers.push(this.#clock.after(diesAfter, () => void this.powerOff()));
    }
  }

  /** Connections are cut, nothing is said to anybody. */
  async powerOff(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
    this.#off.abort();
    this.#off = new AbortController();
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  async #boot(timers: readonly unknown[]): Promise<void> {
    try {
      const settings = await this.#complete(readUserData(this.#spec.userData));
      const tls = settings.tls ?? (await ownCertificate(settings.fqdn, this.#clock));
      if (timers === this.#timers) this.#listen(settings, tls); // else it was switched off meanwhile
    } catch (error) {
      this.#log.error({ err: error }, 'the machine cannot come up with this user data');
    }
  }

  /** With what it has to call for, if its user data says so. */
  async #complete(settings: MachineSettings): Promise<MachineSettings> {
    const { address, surroundings } = this.#spec;
    if (!settings.callback || !surroundings) return settings;
    const { callForSecrets } = await import('./call.ts');
    const caller = { address, surroundings, clock: this.#clock };
    const { tokens, tls } = await callForSecrets(settings.callback, caller, this.#off.signal);
    const users = settings.users.map((user) => ({ ...user, token: tokens.get(user.name) ?? '' }));
    return { ...settings, users, tls };
  }

  #listen({ users, port, fqdn }: MachineSettings, { certificate, privateKey }: PemPair): void {
    const upSince = this.#clock.now();
    const platform = new Platform(
      this.#allowed(users),
      () => this.#checks(upSince),
      () => this.#clock.now(),
    );
    const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      void answer(request, platform).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...body, op_time_us: 1 }));
      });
    });
    server.on('error', (error) =>
      this.#log.error({ err: error, port }, 'the machine cannot listen'),
    );
    server.listen(port, this.#spec.address, () =>
      this.#log.info({ fqdn, port }, 'the machine is up'),
    );
    this.#server = server;
  }

  #allowed(users: MachineSettings['users']): MachineSettings['users'] {
    const { quotas } = this.#spec.script;
    return users.map((user) => ({ ...user, quotas: { ...user.quotas, ...quotas } }));
  }

  #checks(upSince: Instant): ReturnType<typeof checksAt> {
    return checksAt(this.#clock.now() - upSince, this.#spec.script);
  }
}

/** As the platform makes one for itself: nobody signed it but itself. */
async function ownCertificate(fqdn: string, clock: Clock): Promise<PemPair> {
  const { pem } = await Authority.create(clock, { commonName: fqdn, validity: hours(24) });
  return pem;
}

async function answer(request: IncomingMessage, platform: Platform): Promise<ApiAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return platform.answer({
    method: request.method ?? 'GET',
    path: (request.url ?? '/').replace(/\?.*$/s, ''),
    authorization: request.headers.authorization,
    body: Buffer.concat(chunks).toString('utf8'),
  });
}
