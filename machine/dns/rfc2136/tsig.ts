/**
 * Signatures of DNS messages by a shared key (RFC 8945). They are the whole protection of dynamic updates: whoever
 * has the key may write to the zone, and an answer without the key's signature may be anybody's.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import { afterName, classes, lastRecordAt, nameAt, nameBytes, recordBytes, types } from './wire.ts';

export const algorithms = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;
export type TsigAlgorithm = keyof typeof algorithms;

export interface TsigKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Buffer;
}

/** What a message's signature says, and whether it is one. */
export interface Verdict {
  /** The key made it, over this very message, just now. */
  readonly isSigned: boolean;
  /** What the server says of our own signature (RFC 8945 §3): 0, or one of {@link tsigErrors}. */
  readonly error: number;
}

export const tsigErrors: ReadonlyMap<number, string> = new Map([
  [16, 'BADSIG'],
  [17, 'BADKEY'],
  [18, 'BADTIME'],
  [22, 'BADTRUNC'],
]);

/** Seconds that two clocks may be apart, as RFC 8945 §10 recommends. */
const fudge = 300;

/** All of a signature but the digest. */
interface Signature {
  readonly key: string;
  readonly algorithm: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly fudge: number;
  readonly error: number;
  readonly other: Buffer;
}

interface Found {
  /** Where its record begins, and the signed message ends. */
  readonly at: number;
  readonly signature: Signature;
  readonly mac: Buffer;
  readonly originalId: number;
}

/**
 * @param time  seconds since 1970
 * @param requestMac  for an answer, the digest of what it answers
 * @returns the message with its signature as last record, and the digest that its answer will build on
 */
export function sign(
  message: Buffer,
  key: TsigKey,
  time: number,
  requestMac?: Buffer,
): { signed: Buffer; mac: Buffer } {
  const signature = {
    key: key.name,
    algorithm: key.algorithm,
    time,
    fudge,
    error: 0,
    other: none,
  };
  const mac = digest(key, [...before(requestMac), message, variables(signature)]);
  return { signed: withSignature(message, signature, mac), mac };
}

/**
 * Judges the signature of a message.
 *
 * @param now  seconds since 1970
 * @param requestMac  for an answer, the digest of what it answers, so that an old answer does not pass for a new one
 */
export function verify(message: Buffer, key: TsigKey, now: number, requestMac?: Buffer): Verdict {
  const found = signatureIn(message);
  if (!found) return { isSigned: false, error: 0 };
  const { signature, mac } = found;
  const unsigned = Buffer.from(message.subarray(0, found.at));
  unsigned.writeUInt16BE(found.originalId, 0);
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10);
  const expected = digest(key, [...before(requestMac), unsigned, variables(signature)]);
  const isOurs =
    signature.key === key.name.toLowerCase() &&
    signature.algorithm === key.algorithm &&
    mac.length === expected.length &&
    timingSafeEqual(mac, expected);
  const isNow = Math.abs(now - signature.time) <= signature.fudge;
  return { isSigned: isOurs && isNow, error: isOurs && !isNow ? 18 : signature.error };
}

const none = Buffer.alloc(0);

function digest(key: TsigKey, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(algorithms[key.algorithm], key.secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function before(requestMac: Buffer | undefined): Buffer[] {
  return requestMac === undefined ? [] : [sized(requestMac)];
}

/** A digest with its length before it. */
function sized(mac: Buffer): Buffer {
  return Buffer.concat([uint16(mac.length), mac]);
}

/** What is signed beside the message (RFC 8945 §4.3.3). */
function variables({ key, algorithm, time, fudge: span, error, other }: Signature): Buffer {
  return Buffer.concat([
    nameBytes(key),
    uint16(classes.ANY),
    Buffer.alloc(4), // TTL
    nameBytes(algorithm),
    uint48(time),
    uint16(span),
    uint16(error),
    sized(other),
  ]);
}

function withSignature(message: Buffer, signature: Signature, mac: Buffer): Buffer {
  const { key, algorithm, time, fudge: span, error, other } = signature;
  const data = Buffer.concat([
    nameBytes(algorithm),
    uint48(time),
    uint16(span),
    sized(mac),
    message.subarray(0, 2), // the id, which a forwarder may change
    uint16(error),
    sized(other),
  ]);
  const record = recordBytes({ name: key, type: types.TSIG, class: classes.ANY, ttl: 0, data });
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return signed;
}

/** The signature of a message, judged or not; undefined when its last record is none. */
export function signatureIn(message: Buffer): Found | undefined {
  const at = lastRecordAt(message);
  if (at === undefined) return undefined;
  const head = afterName(message, at);
  if (message.readUInt16BE(head) !== types.TSIG) return undefined;
  const data = head + 10;
  const times = afterName(message, data);
  const macAt = times + 10;
  const rest = macAt + message.readUInt16BE(times + 8);
  const otherAt = rest + 6;
  return {
    at,
    signature: {
      key: nameAt(message, at),
      algorithm: nameAt(message, data),
      time: message.readUIntBE(times, 6),
      fudge: message.readUInt16BE(times + 6),
      error: message.readUInt16BE(rest + 2),
      other: message.subarray(otherAt, otherAt + message.readUInt16BE(rest + 4)),
    },
    mac: message.subarray(macAt, rest),
    originalId: message.readUInt16BE(rest),
  };
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}
