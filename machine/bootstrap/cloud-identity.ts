import {
  createRemoteJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';

import { BootstrapRefused, KeysUnavailable } from './refusal.ts';

/** What a cloud says of the instance that a token was given to. */
export interface CloudIdentity {
  readonly cloud: 'aws' | 'gcp';
  /** Number of the account; id of the project. */
  readonly account: string;
  readonly region: string;
  /** Absent where the cloud does not say. */
  readonly zone?: string;
  /** As in a provider id. */
  readonly instance: string;
}

export interface IdentityTrust {
  /** Issuers of AWS accounts, each of its own; their keys are at `/.well-known/jwks.json` below them. */
  readonly awsIssuers: readonly string[];
  /** Where Google's keys are. */
  readonly googleKeys: string;
}

const googleIssuer = 'https://accounts.google.com';
/** What AWS says beyond the registered claims is below this one. */
const ofAws = 'https://sts.amazonaws.com/';

/** Seconds; clocks of clouds are good, ours may be a little off. */
const clockTolerance = 30;
/** A token that was fetched to be shown at once is seconds old. */
const maxTokenAge = '10m';

interface Issuer {
  readonly cloud: CloudIdentity['cloud'];
  readonly algorithms: readonly string[];
  readonly keys: JWTVerifyGetKey;
  readonly read: (payload: JWTPayload) => CloudIdentity | undefined;
}

/**
 * Verifies the tokens by which clouds say which instance calls: Google's identity tokens, and those of AWS's outbound
 * identity federation. Who may issue is a list; where keys are never comes from a token. Keys are fetched once and kept;
 * unknown ones are looked for at most every 30 seconds, so that made-up ones cause no calls.
 *
 * Sources: Google Cloud, "Verify the identity of an instance"; AWS IAM User Guide, "Understanding token claims" (outbound
 * identity federation).
 */
export class CloudIdentities {
  readonly #issuers: ReadonlyMap<string, Issuer>;

  constructor({ awsIssuers, googleKeys: google }: IdentityTrust) {
    this.#issuers = new Map([
      [googleIssuer, { cloud: 'gcp', algorithms: ['RS256'], keys: keysAt(google), read: byGoogle }],
      ...awsIssuers.map((issuer): [string, Issuer] => [
        issuer,
        {
          cloud: 'aws',
          algorithms: ['RS256', 'ES384'],
          keys: keysAt(`${issuer}/.well-known/jwks.json`),
          read: byAws,
        },
      ]),
    ]);
  }

  /**
   * @param at RFC 3339
   * @throws BootstrapRefused @throws KeysUnavailable
   */
  async read(token: string, audience: string, at: string): Promise<CloudIdentity> {
    const named = issuerIn(token);
    const issuer = this.#issuers.get(named);
    if (!issuer) throw refused('its issuer is not among those that are trusted');
    const { payload } = await jwtVerify(token, issuer.keys, {
      algorithms: [...issuer.algorithms],
      issuer: named,
      audience,
      clockTolerance,
      maxTokenAge,
      currentDate: new Date(at),
      requiredClaims: ['sub', 'exp', 'iat'],
    }).catch(explain);
    const identity = issuer.read(payload);
    if (identity) return identity;
    throw refused('it is of no instance; a machine needs an identity of its own');
  }
}

function keysAt(url: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: 5000, cooldownDuration: 30_000 });
}

function issuerIn(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    throw refused('it is no token');
  }
}

/** Source: Google Cloud, payload of instance identity tokens with format=full. */
function byGoogle(payload: JWTPayload): CloudIdentity | undefined {
  const engine = objectIn(objectIn(payload['google'])['compute_engine']);
  const { project_id: account, zone, instance_name: instance } = engine;
  if (!isText(account) || !isText(zone) || !isText(instance)) return undefined;
  return { cloud: 'gcp', account, region: zone.replace(/-[a-z]$/, ''), zone, instance };
}

/** Source: AWS IAM User Guide, session context claims of GetWebIdentityToken. */
function byAws(payload: JWTPayload): CloudIdentity | undefined {
  const { aws_account: account, ec2_source_instance_arn: arn } = objectIn(payload[ofAws]);
  if (!isText(account) || !isText(arn)) return undefined;
  const [, region, owner, instance] =
    /^arn:aws[a-z-]*:ec2:([a-z0-9-]+):([0-9]{12}):instance\/(i-[0-9a-f]+)$/.exec(arn) ?? [];
  if (!region || !instance || owner !== account) return undefined;
  return { cloud: 'aws', account, region, instance };
}

/** Keys that cannot be fetched are nobody's lie; all else is refused. */
function explain(error: unknown): never {
  if (isUnreachable(error)) {
    throw new KeysUnavailable('the keys of the issuer cannot be fetched', { cause: error });
  }
  if (error instanceof errors.JOSEError) throw refused(error.message, error);
  throw new KeysUnavailable('the keys of the issuer cannot be fetched', { cause: error });
}

/** A key set of another shape, or an answer that is no 200, comes as jose's plain error. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  return error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC';
}

function refused(why: string, cause?: unknown): BootstrapRefused {
  return new BootstrapRefused('identity', `the identity of the cloud: ${why}`, { cause });
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
