import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { silentLogger } from '#kube/log.ts';
import { Authority } from '#pki/authority.ts';
import { type Clock, hours } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { DnsServer } from '../../dns/server.ts';
import type { MachineScript } from '../health.ts';
import { LoopbackBlock } from '../loopback.ts';
import { Machine } from '../machine.ts';
import type { Quotas } from '../user-data.ts';

export const quotas: Quotas = {
  vcpus: 8,
  memoryMiB: 4096,
  volumeStorageMiB: 1024,
  instances: 3,
};

/** User data as the format is documented, with what a test changes. */
export function userDataWith(machine: object): string {
  const content = JSON.stringify({
    apiVersion: 'machine.karpenter.unikraft.com/v1alpha1',
    users: [{ name: 'kraftlet', token: 'secret', quotas }],
    config: {},
    imagePulls: [],
    ...machine,
  });
  const write_files = [{ path: '/etc/unikraft/machine.json', permissions: '0600', content }];
  return `#cloud-config\n${stringify({ write_files })}`;
}

/** One machine without any cloud around it: with its name in a DNS of its own and a CA that nobody else trusts. */
export class LoneMachine {
  readonly fqdn = 'api.web.machines.sandbox.test';
  readonly port = 8443;
  readonly token = 'secret';
  readonly address: string;
  readonly authority: Authority;
  /** Holds the CA's certificate, for SSL_CERT_DIR. */
  readonly certificates: string;
  readonly #block: LoopbackBlock;
  readonly #dns: DnsServer;
  readonly #machines: Machine[] = [];

  private constructor(block: LoopbackBlock, authority: Authority, certificates: string) {
    this.#block = block;
    this.address = block.next(new Set());
    this.authority = authority;
    this.certificates = certificates;
    const sets = [{ name: this.fqdn, type: 'A', ttl: 1, values: [this.address] }];
    this.#dns = new DnsServer(() => [{ name: 'machines.sandbox.test', sets }]);
  }

  static async make(): Promise<LoneMachine> {
    const authority = await Authority.create(new SystemClock(), {
      commonName: 'lone machine',
      validity: hours(1),
    });
    const certificates = await mkdtemp(join(tmpdir(), 'lone-machine-'));
    await writeFile(join(certificates, 'ca.crt'), authority.pem.certificate);
    const lone = new LoneMachine(await LoopbackBlock.claim(), authority, certificates);
    await lone.#dns.start();
    return lone;
  }

  get url(): string {
    return `https://${this.fqdn}:${this.port}`;
  }

  get dnsServer(): string {
    return this.#dns.address;
  }

  async powerOn(script: MachineScript, clock: Clock = new SystemClock()): Promise<Machine> {
    const { fqdn, port } = this;
    const tls = await this.authority.issue({ names: [fqdn], validity: hours(1) });
    const userData = userDataWith({ fqdn, port, tls });
    const machine = new Machine(
      { address: this.address, userData, script },
      { clock, log: silentLogger },
    );
    this.#machines.push(machine);
    machine.powerOn();
    return machine;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#machines.map(async (machine) => machine.powerOff()));
    await this.#dns.stop();
    await this.#block.release();
    await rm(this.certificates, { recursive: true });
  }
}
