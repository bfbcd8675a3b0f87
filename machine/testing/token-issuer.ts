import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { JWTPayload } from 'jose';

export interface TokenTimes {
  /** Default: now. */
  readonly issuedAt?: Date;
  /** Seconds; default 5 minutes. */
  readonly lifetime?: number;
}

type Algorithm = 'RS256' | 'ES384';

/** Signs tokens as a cloud does, with a key of its own, and shows the public one at a port of loopback. */
export class TokenIssuer {
  readonly algorithm: Algorithm;
  readonly kid: string;
  /** PEM: what somebody may take for the secret of an HMAC. */
  readonly publicPem: string;
  /** Calls for the keys. */
  calls = 0;
  /** Answers with it in place of the keys, while it is set. */
  failsWith: number | undefined;
  readonly #key: KeyObject;
  readonly #server: Server;

  private constructor(algorithm: Algorithm) {
    const { publicKey, privateKey } = keysFor(algorithm);
    this.algorithm = algorithm;
    this.publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.kid = createHash('sha256').update(this.publicPem).digest('base64url');
    this.#key = privateKey;
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: this.kid, alg: algorithm };
    this.#server = createServer((_, response) => {
      this.calls += 1;
      response.writeHead(this.failsWith ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ keys: [{ ...jwk, use: 'sig' }] }));
    });
  }

  static async start(algorithm: Algorithm = 'RS256'): Promise<TokenIssuer> {
    const issuer = new TokenIssuer(algorithm);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    issuer.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
    return issuer;
  }

  /** `http://127.0.0.1:port`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  sign(payload: JWTPayload, { issuedAt = new Date(), lifetime = 300 }: TokenTimes = {}): string {
    const iat = Math.floor(issuedAt.getTime() / 1000);
    const header = { alg: this.algorithm, kid: this.kid, typ: 'JWT' };
    const said = [header, { ...payload, iat, exp: iat + lifetime }];
    const text = said
      .map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'))
      .join('.');
    const hash = { RS256: 'sha256', ES384: 'sha384' }[this.algorithm];
    const key = { key: this.#key, dsaEncoding: 'ieee-p1363' } as const;
    return `${text}.${sign(hash, Buffer.from(text), key).toString('base64url')}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function keysFor(algorithm: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  return algorithm === 'RS256'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-384' });
}

/** The payload of an instance identity token of Google's (`format=full`). */
export function googlePayload(
  audience: string,
  { project, zone, instance }: { project: string; zone: string; instance: string },
): JWTPayload {
  return {
    iss: 'https://accounts.google.com',
    aud: audience,
    sub: '107517467455664443765',
    azp: '107517467455664443765',
    email: 'machines@sandbox-project.iam.gserviceaccount.com',
    email_verified: true,
    google: {
      compute_engine: {
        project_id: project,
        project_number: 739419398126,
        zone,
        instance_id: '152986662232938449',
        instance_name: instance,
        instance_creation_timestamp: 1_750_000_000,
      },
    },
  };
}

/** The payload of AWS's GetWebIdentityToken, called with the role of an instance. */
export function awsPayload(
  issuer: string,
  audience: string,
  { account, region, instance }: { account: string; region: string; instance: string },
): JWTPayload {
  return {
    iss: issuer,
    aud: audience,
    sub: `arn:aws:iam::${account}:role/unikraft-machine`,
    jti: crypto.randomUUID(),
    'https://sts.amazonaws.com/': {
      aws_account: account,
      source_region: region,
      principal_id: `arn:aws:iam::${account}:role/unikraft-machine`,
      ec2_source_instance_arn: `arn:aws:ec2:${region}:${account}:instance/${instance}`,
      ec2_role_delivery: '2.0',
    },
  };
}
