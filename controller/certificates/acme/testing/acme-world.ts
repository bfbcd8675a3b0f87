import { vi } from 'vitest';

import { CertificatePending } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { acmeOf } from '../../../testing/certificates.ts';
import { memoryContext } from '../../../testing/context.ts';
import { nodeClaim, nodeClassSpec } from '../../../testing/objects.ts';
import type { CertificateRequest } from '../../source.ts';
import type { AcmeCertificates } from '../acme.ts';
import type { Acme } from '../authority.ts';
import { FakeAuthority } from './fake-authority.ts';

/** A cluster in memory, an authority that is told what to answer, and who asks it; no challenge gets as far as a zone. */
export class AcmeWorld {
  readonly memory = memoryContext();
  readonly authority: FakeAuthority;
  source: AcmeCertificates = this.#newSource();
  /** What the node class says beside the directory. */
  acme: Partial<Acme> = {};

  private constructor(authority: FakeAuthority) {
    this.authority = authority;
  }

  static async start(): Promise<AcmeWorld> {
    return new AcmeWorld(await FakeAuthority.start());
  }

  /** Another process over the same cluster. */
  restart(): void {
    this.source = this.#newSource();
  }

  get spec(): UnikraftNodeClassSpec {
    const acme = { directoryURL: `${this.authority.url}/dir`, ...this.acme };
    return nodeClassSpec({ certificate: { api: { mode: 'ACME', acme } } });
  }

  /** What the check of the class comes to, undefined when all is well. */
  async check(): Promise<unknown> {
    const { signal } = new AbortController();
    return this.source.check(this.spec, signal).catch((error: unknown) => error);
  }

  request(machine: string): CertificateRequest {
    const image = { id: 'ami-1', architecture: 'amd64' as const, rootDeviceName: '/dev/xvda' };
    const nodeClass = {
      nodeClass: 'default',
      spec: this.spec,
      image,
      subnets: [],
      securityGroups: [],
      dnsZoneID: 'Z1',
    };
    const claim = this.memory.client.seed(nodeClaims, nodeClaim(machine));
    return { claim, machine, nodeClass, names: [`api.${machine}.machines.example.com`] };
  }

  /** What becomes of a machine's wish, as its chain comes back to see. */
  async outcomeOf(machine: string): Promise<unknown> {
    const request = this.request(machine);
    let outcome: unknown;
    await vi.waitUntil(async () => {
      outcome = await this.source.certificateFor(request).catch((error: unknown) => error);
      return !(outcome instanceof CertificatePending);
    });
    return outcome;
  }

  seedSecret(name: string, data: Record<string, string>): void {
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    const metadata = { name, namespace: this.memory.namespace };
    this.memory.client.seed(secrets, { metadata, data: Object.fromEntries(encoded) });
  }

  /** Names of the Secrets that keep accounts. */
  get accounts(): string[] {
    const names = this.memory.client.all(secrets).map(({ metadata }) => metadata.name);
    return names.filter((name) => name.startsWith('acme-account-'));
  }

  #newSource(): AcmeCertificates {
    return acmeOf(this.memory);
  }
}
