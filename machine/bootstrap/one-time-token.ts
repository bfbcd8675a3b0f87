import {
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose';

import { BootstrapRefused } from './refusal.ts';
import { keyIdOf } from './unproven.ts';

const algorithm = 'ES256';
/** So that no other token that the keys may ever sign is taken for one. */
const type = 'unikraft-bootstrap+jwt';

/** Seconds that a token may last at most, whatever it says: a machine that is not up by then is given up soon. */
export const longestLife = 15 * 60;
/** Seconds; replicas read what another one minted. */
const clockTolerance = 30;

/** A private key (P-256) with its `kid`, which is its thumbprint (RFC 7638). */
export type SigningKey = JWK & { readonly kid: string };

export interface OneTimeToken {
  readonly clusterUid: string;
  readonly claimUid: string;
  /** Where it is to be shown; `aud`. */
  readonly url: string;
  /** Its own name; it counts once. */
  readonly id: string;
}

/** In the token's own whole seconds since 1970. */
export interface Lifetime {
  readonly from: number;
  readonly until: number;
}

export async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

/** Mints what lets one machine call once. ECDSA is not deterministic: to have the same again, keep it. */
export async function mintToken(
  { clusterUid, claimUid, url, id }: OneTimeToken,
  { from, until }: Lifetime,
  key: SigningKey,
): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: algorithm, typ: type, kid: key.kid })
    .setIssuer(clusterUid)
    .setSubject(claimUid)
    .setAudience(url)
    .setJti(id)
    .setIssuedAt(from)
    .setExpirationTime(until)
    .sign(await importJWK(key, algorithm));
}

/**
 * What a token of ours says: signed by one of `keys`, for this cluster, within its time. That it is shown in the right
 * place, for a machine that is awaited, and for the first time is for the caller to see.
 *
 * @param at RFC 3339
 * @throws BootstrapRefused
 */
export async function readToken(
  token: string,
  keys: readonly SigningKey[],
  { clusterUid, at }: { clusterUid: string; at: string },
): Promise<OneTimeToken> {
  const key = keys.find(({ kid }) => kid === keyIdOf(token));
  if (!key) throw new BootstrapRefused('token', 'the token is signed with no key of ours');
  try {
    const { d: _, ...publicKey } = key;
    const { payload } = await jwtVerify(token, await importJWK(publicKey, algorithm), {
      algorithms: [algorithm],
      typ: type,
      issuer: clusterUid,
      currentDate: new Date(at),
      clockTolerance,
      maxTokenAge: longestLife,
      requiredClaims: ['sub', 'aud', 'jti', 'exp', 'iat'],
    });
    return said(payload);
  } catch (error) {
    // jose judges claims only once the signature is right
    const claimUid = error instanceof errors.JWTExpired ? error.payload.sub : undefined;
    throw new BootstrapRefused('token', whyNot(error), { cause: error, claimUid });
  }
}

function said({ iss = '', sub = '', aud = '', jti = '' }: JWTPayload): OneTimeToken {
  const url = typeof aud === 'string' ? aud : (aud[0] ?? '');
  return { clusterUid: iss, claimUid: sub, url, id: jti };
}

/** jose's messages name the claim or the step that failed, and hold nothing of the token. */
function whyNot(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'the time of the token is over';
  return error instanceof errors.JOSEError ? `the token: ${error.message}` : 'it is no token';
}
