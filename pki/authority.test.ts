import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';

import { describe, expect, test } from 'vitest';

import { Authority } from './authority.ts';
import {
  certificateProblem,
  certificatesIn,
  endOf,
  InvalidCertificate,
  renewalOf,
  type PemPair,
} from './certificate.ts';
import { ownAuthority } from './testing/own-authority.ts';

const day = 86_400_000;
const now = { stamp: () => new Date().toISOString() };
const at = (timestamp: string) => ({ stamp: () => timestamp });
const newAuthority = async () => Authority.create(now, { commonName: 'demo', validity: 365 * day });

/** Connects by TLS to a server with `leaf`, trusting only `ca`, asking for `name`. */
async function greet(leaf: PemPair, ca: string, name: string): Promise<string> {
  const server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (socket) =>
    socket.end('hello'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca, servername: name });
  try {
    await once(socket, 'secureConnect');
    return String((await once(socket, 'data'))[0]);
  } finally {
    socket.destroy();
    server.close();
  }
}

describe('a leaf', () => {
  test('is believed for its names by who trusts the authority alone', async () => {
    const authority = await newAuthority();
    const leaf = await authority.issue({ names: ['api.m1.example.com'], validity: day });

    await expect(greet(leaf, authority.pem.certificate, 'api.m1.example.com')).resolves.toBe(
      'hello',
    );
    await expect(greet(leaf, authority.pem.certificate, 'api.m2.example.com')).rejects.toThrow(
      /altnames/,
    );
  });

  test('is not believed by who trusts another authority of the same name', async () => {
    const leaf = await (await newAuthority()).issue({ names: ['api.example.com'], validity: day });
    const other = await newAuthority();

    await expect(greet(leaf, other.pem.certificate, 'api.example.com')).rejects.toThrow(
      /signature|verify/,
    );
  });

  test('carries names, addresses and the server purpose', async () => {
    const authority = await newAuthority();
    const leaf = await authority.issue({
      names: ['api.m1.example.com', '*.m1.example.com'],
      addresses: ['10.0.0.7'],
      validity: day,
    });

    const certificate = new X509Certificate(leaf.certificate);
    expect(certificate.subjectAltName).toBe(
      'DNS:api.m1.example.com, DNS:*.m1.example.com, IP Address:10.0.0.7',
    );
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  test('never outlives its authority', async () => {
    const authority = await Authority.create(now, { commonName: 'short', validity: day });
    const leaf = await authority.issue({ names: ['a.example.com'], validity: 90 * day });

    expect(endOf(leaf.certificate)).toBe(endOf(authority.pem.certificate));
  });

  test('has a serial and a key of its own', async () => {
    const authority = await newAuthority();
    const [one, two] = await Promise.all(
      [1, 2].map(async () => authority.issue({ names: ['a.example.com'], validity: day })),
    );

    expect(one?.privateKey).not.toBe(two?.privateKey);
    expect(new X509Certificate(one?.certificate ?? '').serialNumber).not.toBe(
      new X509Certificate(two?.certificate ?? '').serialNumber,
    );
  });

  test('may have a name longer than a common name has room for', async () => {
    const name = `api.${'n'.repeat(40)}.${'z'.repeat(40)}.example.com`;
    const authority = await newAuthority();
    const leaf = await authority.issue({ names: [name], validity: day });

    await expect(greet(leaf, authority.pem.certificate, name)).resolves.toBe('hello');
  });
});

describe('an authority from a Secret', () => {
  test('signs as the one that was stored', async () => {
    const stored = (await newAuthority()).pem;
    const leaf = await Authority.load(stored, now).issue({
      names: ['a.example.com'],
      validity: day,
    });

    await expect(greet(leaf, stored.certificate, 'a.example.com')).resolves.toBe('hello');
  });

  test.each(['RSA', 'P-384'] as const)(
    'may be a user’s own, with a key of kind %s',
    async (kind) => {
      const own = await ownAuthority(kind);
      const authority = Authority.load(own, now);
      const leaf = await authority.issue({ names: ['a.example.com'], validity: day });

      await expect(greet(leaf, own.certificate, 'a.example.com')).resolves.toBe('hello');
    },
  );

  test('is refused with the reason', async () => {
    const { pem } = await newAuthority();
    const other = await newAuthority();
    const leaf = await other.issue({ names: ['a.example.com'], validity: day });
    const why = (pair: PemPair, time = now) => {
      try {
        Authority.load(pair, time);
        return 'accepted';
      } catch (error) {
        return error instanceof InvalidCertificate ? error.message : error;
      }
    };

    expect(why(pem)).toBe('accepted');
    expect(why({ ...pem, certificate: 'nonsense' })).toMatch(/certificate is not PEM/);
    expect(why({ ...pem, privateKey: 'nonsense' })).toMatch(/private key is not PEM/);
    expect(why({ ...pem, privateKey: other.pem.privateKey })).toMatch(/does not belong/);
    expect(why(leaf)).toMatch(/may not sign others/);
    expect(why(pem, at('2999-01-01T00:00:00Z'))).toMatch(/ended on/);
    expect(why(pem, at('1999-01-01T00:00:00Z'))).toMatch(/not valid before/);
  });

  test('with a kind of key that cannot sign here is refused', async () => {
    const own = await ownAuthority('Ed25519');

    expect(() => Authority.load(own, now)).toThrow(/key is of type ed25519/);
  });
});

test('a pair is checked for the names it must cover', async () => {
  const leaf = await (await newAuthority()).issue({ names: ['*.m1.example.com'], validity: day });

  expect(
    certificateProblem(leaf, { at: now.stamp(), names: ['api.m1.example.com'] }),
  ).toBeUndefined();
  expect(certificateProblem(leaf, { at: now.stamp(), names: ['api.m2.example.com'] })).toBe(
    'the certificate does not cover api.m2.example.com',
  );
});

test('the time for the next one is when two thirds of its life are over', async () => {
  const time = at('2026-01-01T00:00:00Z');
  const { pem } = await Authority.create(time, { commonName: 'x', validity: 30 * day });

  expect(renewalOf(pem.certificate)).toBe('2026-01-21T00:00:00.000Z');
});

test('a bundle is read back as the certificates it was made of', async () => {
  const made = await Promise.all([newAuthority(), newAuthority()]);
  const certificates = made.map(({ pem }) => pem.certificate);

  const read = certificatesIn(`# two\n${certificates.join('\n')}`);

  expect(read.map((one) => new X509Certificate(one).fingerprint256)).toEqual(
    certificates.map((one) => new X509Certificate(one).fingerprint256),
  );
  expect(certificatesIn(read.join(''))).toEqual(read);
  expect(certificatesIn('')).toEqual([]);
});
