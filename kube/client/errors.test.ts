import { expect, test } from 'vitest';

import {
  ApiError,
  ConnectionError,
  isAlreadyExists,
  isBlockedByBudget,
  isConflict,
  isGone,
  isNotFound,
  isTooManyRequests,
} from './errors.ts';

const call = { verb: 'GET', path: '/api/v1/namespaces/default/pods/web' };

test('a refusal names the call, the reason, the code and the request', () => {
  const body = JSON.stringify({
    kind: 'Status',
    reason: 'NotFound',
    message: 'pods "web" not found',
  });
  const error = ApiError.fromBody(call, { code: 404, requestId: '7f1c' }, body);
  expect(isNotFound(error)).toBe(true);
  expect(error.message).toBe(
    'GET /api/v1/namespaces/default/pods/web: pods "web" not found (404 NotFound, request 7f1c)',
  );
});

test('409 is two things, told apart by the reason', () => {
  const refused = (reason: string) => new ApiError(call, { code: 409 }, { kind: 'Status', reason });
  expect([isAlreadyExists, isConflict].map((is) => is(refused('AlreadyExists')))).toEqual([
    true,
    false,
  ]);
  expect([isAlreadyExists, isConflict].map((is) => is(refused('Conflict')))).toEqual([false, true]);
});

test('what a proxy answers in HTML still has a reason', () => {
  const error = ApiError.fromBody(call, { code: 503 }, '<html>upstream is away</html>');
  expect(error.reason).toBe('ServiceUnavailable');
  expect(error.message).toContain('upstream is away');
});

test('an expired watch is gone, whether by its answer or by its event', () => {
  expect(isGone(ApiError.fromBody(call, { code: 410 }, ''))).toBe(true);
  expect(isGone(ApiError.fromEvent(call, { kind: 'Status', code: 410, reason: 'Expired' }))).toBe(
    true,
  );
  expect(isGone(ApiError.fromEvent(call, 'nonsense'))).toBe(false);
});

test('an eviction held back by a budget is told from a busy server', () => {
  const details = { causes: [{ reason: 'DisruptionBudget' }] };
  const held = new ApiError(call, { code: 429 }, { kind: 'Status', details });
  const busy = new ApiError(
    call,
    { code: 429 },
    { kind: 'Status', details: { retryAfterSeconds: 2 } },
  );
  expect([held, busy].map(isTooManyRequests)).toEqual([true, true]);
  expect([held, busy].map(isBlockedByBudget)).toEqual([true, false]);
  expect(busy.retryAfter).toBe(2000);
});

test('a connection that was refused never carried the call', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const cut = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  expect(new ConnectionError(call, refused).neverSent).toBe(true);
  expect(new ConnectionError(call, cut).neverSent).toBe(false);
  expect(new ConnectionError(call, cut).message).toContain('other side closed');
});
