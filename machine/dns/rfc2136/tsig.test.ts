import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { sign, signatureIn, verify, type TsigAlgorithm, type TsigKey } from './tsig.ts';
import { queryMessage } from './wire.ts';

const keyOf = (algorithm: TsigAlgorithm): TsigKey => ({
  name: 'kpu',
  algorithm,
  secret: Buffer.from('aXQgaXMgYSBzZWNyZXQgdG8gZXZlcnlib2R5', 'base64'),
});

/** What dig and nsupdate of BIND 9.18 sent with that key, the seconds since 1970 when they did, and how. */
const name = '03617069057765622d31086d616368696e6573076578616d706c6503636f6d00';
const vectors: [from: string, TsigAlgorithm, seconds: number, message: string][] = [
  [
    'dig',
    'hmac-sha256',
    0x6b0ddc7b,
    `df4801200001000000000001${name}00010001036b70750000fa00ff00000000003d0b686d61632d7368613235360000006b0ddc7b012c0020` +
      '62cd6a8276fed837b03e301eed3ed28aca4fd641ffcc94f6d9d8af3f57ae9c17df4800000000',
  ],
  [
    'nsupdate',
    'hmac-sha256',
    0x6b0ddc7b,
    `dd7f28000001000100010001086d616368696e6573076578616d706c6503636f6d0000060001` +
      '03617069057765622d31086d616368696e6573076578616d706c6503636f6d00000100fe000000000000' +
      'c026000100010000003c00040a000007036b70750000fa00ff00000000003d0b686d61632d7368613235360000006b0ddc7b012c0020' +
      '2e5c1fd7bf4bd3cbf9605cd16893190677de45f322fd48bc36fba000ef3460b2dd7f00000000',
  ],
  [
    'dig',
    'hmac-sha512',
    0x6b0ddc7b,
    `88b101200001000000000001${name}00010001036b70750000fa00ff00000000005d0b686d61632d7368613531320000006b0ddc7b012c0040` +
      '2cc0dc45d15caa5bde3f468189f77343c13071c154af001150e95df8afda2cc9eeb61e2027043b57d01879527e569f8aec7a45c17ad42ea4' +
      '77e192982160372488b100000000',
  ],
  [
    'nsupdate',
    'hmac-sha512',
    0x6b0ddc7b,
    `f6db28000001000100010001086d616368696e6573076578616d706c6503636f6d0000060001` +
      '03617069057765622d31086d616368696e6573076578616d706c6503636f6d00000100fe000000000000' +
      'c026000100010000003c00040a000007036b70750000fa00ff00000000005d0b686d61632d7368613531320000006b0ddc7b012c0040' +
      '19e695755784410ae2f391158da70184fd26409083186abb2049d9d06e8ce4d57906e2c0d5eb6c23bdef1307a60d696145cad77fdaf1ad39' +
      'e617aa7b52ba051bf6db00000000',
  ],
];

describe.each(vectors)('a message that %s signed with %s', (_from, algorithm, time, hex) => {
  const message = Buffer.from(hex, 'hex');
  const key = keyOf(algorithm);

  test('is believed, and signed alike by us', () => {
    expect(verify(message, key, time)).toEqual({ isSigned: true, error: 0 });
    const bare = Buffer.from(message.subarray(0, signatureIn(message)?.at));
    bare.writeUInt16BE(0, 10);
    expect(sign(bare, key, time).signed.toString('hex')).toBe(hex);
  });

  test('is believed for five minutes on either side', () => {
    expect(verify(message, key, time + 300).isSigned).toBe(true);
    expect(verify(message, key, time + 301)).toEqual({ isSigned: false, error: 18 });
    expect(verify(message, key, time - 301)).toEqual({ isSigned: false, error: 18 });
  });

  test('is not believed with another key', () => {
    const other: TsigAlgorithm = algorithm === 'hmac-sha256' ? 'hmac-sha512' : 'hmac-sha256';
    for (const wrong of [
      { ...key, name: 'other' },
      { ...key, algorithm: other },
      { ...key, secret: Buffer.from('x') },
    ]) {
      expect(verify(message, wrong, time).isSigned).toBe(false);
    }
  });
});

test('one bit of another kind anywhere in the message, its digest or its request is noticed', () => {
  const key = keyOf('hmac-sha256');
  const request = sign(queryMessage('api.web-1.example.com', 'A'), key, 1000);
  const answer = sign(queryMessage('api.web-1.example.com', 'A'), key, 1000, request.mac);
  const { at = 0, mac = Buffer.alloc(0) } = signatureIn(answer.signed) ?? {};
  const macAt = answer.signed.indexOf(mac);
  expect(verify(answer.signed, key, 1000, request.mac).isSigned).toBe(true);

  const flipped = (bytes: Buffer, position: number, bit: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(position) ^ (1 << bit), position);
    return copy;
  };
  // the id may change on the way, and counts decide where the signature is
  const body = fc.integer({ min: 12, max: at - 1 });
  const digest = fc.integer({ min: macAt, max: macAt + mac.length - 1 });
  const bit = fc.integer({ min: 0, max: 7 });
  fc.assert(
    fc.property(fc.oneof(body, digest), bit, (position, one) => {
      expect(isBelieved(flipped(answer.signed, position, one), key, request.mac)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: request.mac.length - 1 }), bit, (position, one) => {
      const other = flipped(request.mac, position, one);
      expect(verify(answer.signed, key, 1000, other).isSigned).toBe(false);
    }),
  );
});

/** What cannot be read is not believed either. */
function isBelieved(message: Buffer, key: TsigKey, requestMac: Buffer): boolean {
  try {
    return verify(message, key, 1000, requestMac).isSigned;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
