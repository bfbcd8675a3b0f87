import { randomBytes } from 'node:crypto';

import { FlattenedSign, importPKCS8 } from 'jose';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { AcmeCertificates } from '#controller/certificates/acme/acme.ts';
import type { CertificateRequest } from '#controller/certificates/source.ts';
import { memoryContext } from '#controller/testing/context.ts';
import { nodeClaim, nodeClassSpec } from '#controller/testing/objects.ts';
import { AcmeClient } from '#machine/certificate/acme/client.ts';
import { fulfil, type Challenges } from '#machine/certificate/acme/issue.ts';
import { DnsLookup } from '#machine/dns/lookup.ts';
import { Rfc2136Dns } from '#machine/dns/rfc2136/rfc2136-dns.ts';
import type { TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import { CertificateLimited, CertificatePending } from '#machine/errors.ts';
import { certificateProblem } from '#pki/certificate.ts';
import { anchorsOf } from '#pki/chain.ts';
import { newKey } from '#pki/new-request.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { milliseconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { BindZone } from '../dns/testing/bind-zone.ts';
import { ensureBind, MissingBind } from '../tools/bind.ts';
import { ensurePebble, MissingPebble } from '../tools/pebble.ts';
import { ScreenProgress } from '../tools/progress.ts';
import { Pebble } from './testing/pebble.ts';

const zone = 'machines.example.com';
const signal = new AbortController().signal;
const clock = new SystemClock();
const keyOf = (name: string): TsigKey => ({
  name,
  algorithm: 'hmac-sha256',
  secret: Buffer.from(`the secret of ${name}`),
});
const key = keyOf('kpu');

/** Where they cannot be had their stories are skipped, and say why; continuous integration has them. */
async function programsOrReason() {
  const progress = new ScreenProgress(process.stderr, clock);
  try {
    return { bind: await ensureBind(progress), pebble: await ensurePebble(progress) };
  } catch (error) {
    const isMissing = error instanceof MissingBind || error instanceof MissingPebble;
    if (isMissing && process.env['CI'] !== 'true') return error;
    throw error;
  }
}

const programs = await programsOrReason();
const why = programs instanceof Error ? `, not told: ${programs.message}` : '';

describe.skipIf(programs instanceof Error)(`certificates by ACME, from Pebble${why}`, () => {
  let server: BindZone;
  let pebble: Pebble;
  let dns: Rfc2136Dns;
  let lookup: DnsLookup;
  beforeAll(async () => {
    if (programs instanceof Error) throw programs;
    server = await BindZone.start(programs.bind, zone, {
      key,
      reader: keyOf('reader'),
      isPublic: true,
    });
    const address = { server: '127.0.0.1', port: server.port };
    pebble = await Pebble.start(programs.pebble, `127.0.0.1:${server.port}`);
    dns = new Rfc2136Dns({ address, key: async () => key, clock });
    lookup = new DnsLookup([`127.0.0.1:${server.port}`]);
  });
  afterAll(async () => {
    await pebble?.stop();
    await server?.stop();
  });

  const texts = async (): Promise<string[]> =>
    (await server.contents()).filter((line) => line.includes(' TXT '));

  test('a name and its wildcard have one place for both challenges, where texts of others stay', async () => {
    const names = [`web.${zone}`, `*.web.${zone}`];
    await dns.addText(zone, `_acme-challenge.web.${zone}`, 'of-somebody-else', signal);
    const place = `_acme-challenge.web.${zone}`;
    const placed: string[] = [];
    const challenges: Challenges = {
      add: async (name, text) => {
        placed.push(text);
        await dns.addText(zone, name, text, signal);
      },
      isSeen: async (name, text) => (await lookup.texts(name, signal)).includes(text),
    };
    const { directoryURL, ca } = pebble;
    const accountKey = await newKey();
    const client = new AcmeClient({ directoryURL, ca, email: 'ops@example.com', accountKey });
    const order = await client.newOrder(names, signal);
    const pair = await fulfil(order, names, { client, challenges, clock }, signal);
    expect(await texts()).toHaveLength(3);
    for (const text of placed) await dns.removeText(zone, place, text, signal);

    expect(
      certificateProblem(pair, { at: clock.stamp(), names: [`web.${zone}`, `a.web.${zone}`] }),
    ).toBeUndefined();
    expect(anchorsOf(pair.certificate, ca)).toMatch(/BEGIN CERTIFICATE/);
    expect(await texts()).toEqual([`_acme-challenge.web.${zone} TXT "of-somebody-else"`]);
    await dns.removeText(zone, place, 'of-somebody-else', signal);
    await client.close();
  });

  describe('for machines', () => {
    let memory: ReturnType<typeof memoryContext>;
    let source: AcmeCertificates;
    beforeEach(() => {
      memory = memoryContext();
      const data = { 'ca.crt': btoa(pebble.ca) };
      memory.client.seed(secrets, {
        metadata: { name: 'acme-ca', namespace: memory.namespace },
        data,
      });
      source = newSource();
    });

    /** A process over the same cluster. */
    function newSource(textsAt = async (name: string) => lookup.texts(name, signal)) {
      const { client, namespace } = memory;
      return new AcmeCertificates({
        client,
        namespace,
        clock,
        textsAt,
        clouds: { dns: async () => dns },
      });
    }

    function requestFor(machine: string, certificatesPerWeek = 50): CertificateRequest {
      const acme = {
        directoryURL: pebble.directoryURL,
        caSecretRef: { name: 'acme-ca' },
        certificatesPerWeek,
      };
      const spec = nodeClassSpec({
        dns: { provider: 'RFC2136', zone },
        certificate: { api: { mode: 'ACME', acme } },
      });
      const image = { id: 'ami-1', architecture: 'amd64' as const, rootDeviceName: '/dev/xvda' };
      const resolved = {
        nodeClass: 'default',
        spec,
        image,
        subnets: [],
        securityGroups: [],
        dnsZoneID: zone,
      };
      const claim = memory.client.seed(nodeClaims, nodeClaim(machine));
      return { claim, machine, nodeClass: resolved, names: [`api.${machine}.${zone}`] };
    }

    /** As the chain comes back to see. */
    async function certificateOf(request: CertificateRequest, from = source) {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- asked again and again
        const made = await from.certificateFor(request).catch((error: unknown) => {
          if (!(error instanceof CertificatePending)) throw error;
        });
        if (made) return made;
        // oxlint-disable-next-line no-await-in-loop -- as above
        await clock.sleep(milliseconds(100));
      }
    }

    test('each gets its own, and nothing of it stays in the zone', async () => {
      await source.check(requestFor('web-0').nodeClass.spec, signal);
      const [one, other] = await Promise.all(
        ['web-1', 'web-2'].map(async (name) => certificateOf(requestFor(name))),
      );
      const expected = { at: clock.stamp(), names: [`api.web-1.${zone}`] };
      expect(certificateProblem(one!, expected)).toBeUndefined();
      expect(one?.certificate).not.toBe(other?.certificate);
      expect(pebble.ca).toContain(one?.ca.trim());
      expect(await texts()).toEqual([]);
    });

    test('as many as a week allows, also over restarts, are asked for and no more', async () => {
      await certificateOf(requestFor('web-1', 1));
      const limited = newSource().certificateFor(requestFor('web-2', 1));
      await expect(limited).rejects.toThrow(CertificateLimited);
      await expect(limited).rejects.toThrow(
        /1 certificates for machines\.example\.com .* room again in/,
      );
      const { spec } = requestFor('web-3', 1).nodeClass;
      await expect(newSource().check(spec, signal)).rejects.toMatchObject({ code: 'KPU365' });
    });

    test('what a process that died had put into the zone goes with the machine', async () => {
      const dying = newSource(async () => []);
      const request = requestFor('web-1');
      await expect(dying.certificateFor(request)).rejects.toThrow(CertificatePending);
      await expect.poll(texts, { timeout: 10_000 }).toHaveLength(1);
      await source.release(request, signal);
      expect(await texts()).toEqual([]);
      await dying.release(request, signal);
    });

    test('an account that is closed is told, and another one opened once its Secret is gone', async () => {
      const { spec } = requestFor('web-0').nodeClass;
      await source.check(spec, signal);
      const [name = ''] = memory.client
        .all(secrets)
        .map(({ metadata }) => metadata.name)
        .filter((one) => one.startsWith('acme-account-'));
      const { namespace } = memory;
      const kept = memory.client.peek(secrets, { namespace, name });
      await deactivate(pebble, atob(kept?.data?.['account.key'] ?? ''));
      await expect(certificateOf(requestFor('web-1'))).rejects.toThrow(
        new RegExp(`deactivated.*delete Secret ${namespace}/${name}`),
      );
      await expect(source.check(spec, signal)).rejects.toMatchObject({ code: 'KPU366' });
      memory.client.remove(secrets, { namespace, name });
      const made = await certificateOf(requestFor('web-2'));
      expect(made.certificate).toMatch(/BEGIN CERTIFICATE/);
    });
  });

  describe('for its customers alone', () => {
    const secret = randomBytes(32).toString('base64url');
    let strict: Pebble;
    let memory: ReturnType<typeof memoryContext>;
    beforeAll(async () => {
      if (programs instanceof Error) throw programs;
      strict = await Pebble.start(programs.pebble, `127.0.0.1:${server.port}`, { ours: secret });
    });
    afterAll(async () => strict?.stop());
    beforeEach(() => {
      memory = memoryContext();
    });

    /** What comes of a class that is a customer by `keyID` with `key`, or none. */
    async function checked(keyID?: string, key = secret): Promise<unknown> {
      const { client, namespace } = memory;
      const seed = (name: string, field: string, text: string): unknown =>
        client.seed(secrets, { metadata: { name, namespace }, data: { [field]: btoa(text) } });
      seed('acme-ca', 'ca.crt', strict.ca);
      seed('eab', 'secret', key);
      const externalAccountBinding = keyID && { keyID, keySecretRef: { name: 'eab' } };
      const acme = {
        directoryURL: strict.directoryURL,
        caSecretRef: { name: 'acme-ca' },
        ...(externalAccountBinding && { externalAccountBinding }),
      };
      const spec = nodeClassSpec({ certificate: { api: { mode: 'ACME', acme } } });
      const clouds = { dns: async () => dns };
      const source = new AcmeCertificates({
        client,
        namespace,
        clock,
        clouds,
        textsAt: async () => [],
      });
      return source.check(spec, signal).catch((error: Error) => error.message);
    }

    test('an account is bound to a customer', async () => {
      expect(await checked('ours')).toBeUndefined();
    });

    test('who is none is told what to set', async () => {
      expect(await checked()).toMatch(/set certificate\.api\.acme\.externalAccountBinding/);
    });

    test.each([
      ['theirs', secret],
      ['ours', randomBytes(32).toString('base64url')],
    ])('a key that it does not know is told (%s)', async (keyID, key) => {
      expect(await checked(keyID, key)).toMatch(new RegExp(`check key id ${keyID} .* Secret eab`));
    });
  });
});

/** As the authority does at its customer's wish, or somebody with the account's key (RFC 8555 §7.3.6). */
async function deactivate(pebble: Pebble, accountKey: string): Promise<void> {
  const { directoryURL, ca } = pebble;
  const dispatcher = new Agent({ connect: { ca } });
  const client = new AcmeClient({ directoryURL, ca, email: undefined, accountKey });
  const url = await client.account(signal);
  await client.close();
  const directory = (await (await fetch(directoryURL, { dispatcher })).json()) as {
    newNonce: string;
  };
  const key = await importPKCS8(accountKey, 'ES256');
  for (let tries = 0; tries < 20; tries++) {
    // oxlint-disable-next-line no-await-in-loop -- every fifth nonce is refused
    const { headers } = await fetch(directory.newNonce, { dispatcher, method: 'HEAD' });
    const header = { alg: 'ES256', kid: url, url, nonce: headers.get('replay-nonce') ?? '' };
    const wish = Buffer.from(JSON.stringify({ status: 'deactivated' }));
    // oxlint-disable-next-line no-await-in-loop
    const signed = await new FlattenedSign(wish).setProtectedHeader(header).sign(key);
    // oxlint-disable-next-line no-await-in-loop
    const answer = await fetch(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/jose+json' },
      body: JSON.stringify(signed),
    });
    if (answer.ok) return;
  }
  throw new Error('Pebble does not close the account');
}
