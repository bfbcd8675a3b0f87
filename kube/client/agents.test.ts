import { expect, test } from 'vitest';

import { Agents } from './agents.ts';
import type { TlsOptions } from './connection.ts';

test('connections are pooled anew when certificates change, and only then', async () => {
  let tls: TlsOptions = { ca: 'one' };
  const agents = new Agents({
    server: 'https://example.test',
    namespace: undefined,
    tls: async () => tls,
    headers: async () => ({}),
  });
  const first = await agents.current();
  expect(await agents.current()).toBe(first);

  tls = { ca: 'two' };
  const second = await agents.current();
  expect(second).not.toBe(first);
  expect(first.calls.closed).toBe(true);
  await agents.destroy();
  expect(second.calls.destroyed).toBe(true);
});
