import { afterEach, describe, expect, test } from 'vitest';

import { Rfc2136Dns } from '#machine/dns/rfc2136/rfc2136-dns.ts';
import { UpdateServer } from '#machine/dns/rfc2136/server.ts';
import { stories, type Place } from '#machine/dns/rfc2136/testing/stories.ts';
import type { TsigAlgorithm, TsigKey } from '#machine/dns/rfc2136/tsig.ts';
import { classes, dataBytes, types, updateMessage } from '#machine/dns/rfc2136/wire.ts';
import { failureOf } from '#machine/testing/ec2.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { ensureBind, MissingBind, type Bind } from '../tools/bind.ts';
import { ScreenProgress } from '../tools/progress.ts';
import { BindZone } from './testing/bind-zone.ts';

const zone = 'machines.example.com';
const signal = new AbortController().signal;
const keyOf = (name: string, algorithm: TsigAlgorithm): TsigKey => ({
  name,
  algorithm,
  secret: Buffer.from(`the secret of ${name}`),
});
const reader = keyOf('reader', 'hmac-sha256');

/** Where it cannot be had its stories are skipped, and say why; continuous integration has it. */
async function bindOrReason(): Promise<Bind | MissingBind> {
  return ensureBind(new ScreenProgress(process.stderr, new SystemClock())).catch(
    (error: unknown) => {
      if (error instanceof MissingBind && process.env['CI'] !== 'true') return error;
      throw error;
    },
  );
}

const bind = await bindOrReason();
const isMissing = bind instanceof MissingBind;
const why = isMissing ? `, not told: ${bind.message}` : '';
let server: BindZone | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

function dnsWith(given: TsigKey, clock: FakeClock, port: number, realNow = Date.now): Rfc2136Dns {
  const address = { server: '127.0.0.1', port };
  return new Rfc2136Dns({ address, key: async () => given, clock, realNow });
}

async function placeWith(key: TsigKey): Promise<Place & { port: number }> {
  if (bind instanceof MissingBind) throw bind;
  const started = await BindZone.start(bind, zone, { key, reader });
  server = started;
  const { port } = started;
  const clock = new FakeClock();
  const address = { server: '127.0.0.1', port };
  const hand = new UpdateServer({ address, key: async () => key, clock });
  const write = async (name: string, type: keyof typeof types, values: string[]): Promise<void> => {
    const whole = { name, type: types[type], class: classes.ANY, ttl: 0, data: Buffer.alloc(0) };
    const records = values.map((value) => ({
      ...whole,
      class: classes.IN,
      ttl: 60,
      data: dataBytes(type, value),
    }));
    const message = updateMessage(zone, { prerequisites: [], updates: [whole, ...records] });
    const [answer] = await hand.ask([message]);
    expect(answer?.status).toBe('NOERROR');
  };
  return {
    dns: dnsWith(key, clock, port),
    other: dnsWith(key, clock, port),
    clock,
    zone,
    port,
    put: async (name, type, value) => write(name, type, [value]),
    delete: async (name, type) => write(name, type, []),
    contents: async () => {
      const all = await started.contents();
      return all.filter((line) => !line.startsWith(`ns.${zone} `));
    },
  };
}

describe.skipIf(isMissing)(`BIND${why}`, () => {
  describe.each(['hmac-sha256', 'hmac-sha512'] as const)('with %s', (algorithm) => {
    test.each(Object.entries(stories))('%s', async (_title, tell) => {
      expect.hasAssertions();
      await tell(await placeWith(keyOf('kpu', algorithm)));
    });
  });

  const hour = 3_600_000;
  const writer = keyOf('kpu', 'hmac-sha256');
  test.each([
    ['that may only read', 'REFUSED', reader, Date.now],
    ['with another secret', 'BADSIG', { ...writer, secret: Buffer.from('x') }, Date.now],
    ['with another algorithm', 'BADKEY', keyOf('kpu', 'hmac-sha512'), Date.now],
    ['that it does not know', 'BADKEY', keyOf('nobody', 'hmac-sha256'), Date.now],
    ['of another hour', 'BADTIME', writer, () => Date.now() - hour],
  ])('a key %s makes the node class unready with %s', async (_what, status, key, now) => {
    const { clock, port } = await placeWith(writer);
    const dns = dnsWith(key, clock, port, now);
    const error = await failureOf(dns.resolveZone(zone, undefined, signal));
    expect(error).toMatchObject({ code: 'KPU241', condition: 'DNSReady' });
    expect(error.message).toContain(`${status}: `);
  });
});
