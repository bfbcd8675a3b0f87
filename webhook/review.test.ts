import { describe, expect, test } from 'vitest';

import { Refusal } from './refusal.ts';
import { answerTo, requestOf, warning } from './review.ts';

const request = {
  uid: 'u-1',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  operation: 'CREATE',
};
const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('a body', () => {
  test('that is a review gives its request as it was sent', () => {
    const sent = { ...request, object: { metadata: { labels: { 'x/y': 'z' } } }, future: true };
    expect(requestOf(bytes({ ...review, request: sent }))).toEqual(sent);
  });

  test.each([
    ['no JSON', Buffer.from('{"kind": "AdmissionReview", secret')],
    ['empty', Buffer.alloc(0)],
    ['null', bytes(null)],
    ['a list', bytes([review])],
    ['another kind', bytes({ ...review, kind: 'Pod' })],
    ['a version that is gone', bytes({ ...review, apiVersion: 'admission.k8s.io/v1beta1' })],
    ['without request', bytes({ ...review, request: null })],
    ['without uid', bytes({ ...review, request: { ...request, uid: '' } })],
    ['without kind', bytes({ ...review, request: { ...request, kind: undefined } })],
    ['with a kind that is a text', bytes({ ...review, request: { ...request, kind: 'Pod' } })],
    [
      'with an operation that there is not',
      bytes({ ...review, request: { ...request, operation: 'constructor' } }),
    ],
  ])('%s is refused', (_, body) => {
    expect(() => requestOf(body)).toThrow(Refusal);
  });

  test('A14: with a key twice is read as the API server reads it: the last one counts', () => {
    const twice = bytes(review).toString().replace('"uid":"u-1"', '"uid":"u-0","uid":"u-1"');
    expect(requestOf(Buffer.from(twice)).uid).toBe('u-1');
  });

  test('A14: is read by the exact case of its names', () => {
    const shouting = bytes(review).toString().replace('"uid"', '"UID"');
    expect(() => requestOf(Buffer.from(shouting))).toThrow(/needs uid/);
  });

  test('A15: reaches no prototype by the names in it', () => {
    const text = bytes({ ...review, request: { ...request, object: 0 } })
      .toString()
      .replace(
        '"object":0',
        '"object":{"__proto__":{"kind":"Pod"},"constructor":{"prototype":{"a":1}}}',
      );
    const { object } = requestOf(Buffer.from(text));
    expect(object?.kind).toBeUndefined();
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  test('is never quoted: it may hold a secret', () => {
    expect(() => requestOf(Buffer.from('{"password": "hunter2", }'))).toThrow(
      /^the body is not JSON$/,
    );
  });
});

describe('an answer', () => {
  test('repeats the uid and says no more than it must', () => {
    expect(answerTo(request, { allowed: true, patch: [], warnings: [] })).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'u-1', allowed: true },
    });
  });

  test('gives a patch together with its type', () => {
    const patch = [{ op: 'add', path: '/spec/nodeSelector', value: { ü: '1' } }] as const;
    const { response } = answerTo(request, { allowed: true, patch }) as {
      response: { patchType: string; patch: string };
    };
    expect(response.patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toEqual(patch);
  });

  test('gives the reason of a refusal where the API server looks for it', () => {
    const status = { code: 422, reason: 'Invalid', message: 'no' };
    expect(answerTo(request, { allowed: false, status, warnings: ['mind'] })).toMatchObject({
      response: { uid: 'u-1', allowed: false, status, warnings: ['mind'] },
    });
  });
});

test('a warning is cut where the API server would like it', () => {
  expect(warning('short')).toBe('short');
  expect(warning('x'.repeat(500))).toHaveLength(120);
});
