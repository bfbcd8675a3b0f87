/**
 * What the operator's names in a zone with dynamic updates have to be, told to whatever server holds the zone: one of
 * our own, and one by people who wrote DNS servers before us.
 */
import { expect } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';
import type { FakeClock } from '#schemas/time/fake-clock.ts';

import { DnsConflict } from '../../../errors.ts';
import { failureOf } from '../../../testing/ec2.ts';
import type { Rfc2136Dns } from '../rfc2136-dns.ts';

/** A server that holds one zone. */
export interface Place {
  readonly dns: Rfc2136Dns;
  /** Another process with the same key: what it knows of the zone is not what `dns` knows. */
  readonly other: Rfc2136Dns;
  readonly clock: FakeClock;
  readonly zone: string;
  /** Writes a record by hand, in the place of those of its name and type. */
  put(name: string, type: 'A' | 'CNAME' | 'TXT', value: string): Promise<void>;
  delete(name: string, type: 'A' | 'TXT'): Promise<void>;
  /** `name type value` of all A, AAAA, CNAME and TXT, sorted. */
  contents(): Promise<readonly string[]>;
}

export type Story = (place: Place) => Promise<void>;

const signal = new AbortController().signal;
const owner = (claimUid: string) => ({ clusterUid: 'cluster', claimUid });
const nameOf = ({ zone }: Place, node: string): string => `api.${node}.${zone}`;

/** The order is given, its batch is collected, and whatever becomes of it is returned. */
export async function afterCollecting<T>(clock: FakeClock, order: Promise<T>): Promise<T> {
  order.catch(() => {}); // looked at below
  await clock.forward(milliseconds(200));
  return order;
}

export async function upsert(
  place: Place,
  node: string,
  address: string,
  { by = node, dns = place.dns } = {},
): Promise<void> {
  const records = [{ name: nameOf(place, node), address, ttl: 60 }];
  await afterCollecting(place.clock, dns.upsert(place.zone, records, owner(by), signal));
}

export async function remove(place: Place, node: string, by = node): Promise<void> {
  const names = [nameOf(place, node)];
  await afterCollecting(place.clock, place.dns.remove(place.zone, names, owner(by), signal));
}

/** All at once. */
async function setTexts(
  { clock, dns, zone }: Place,
  name: string,
  { add = [], remove: taken = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> {
  const orders = [
    ...add.map(async (text) => dns.addText(zone, name, text, signal)),
    ...taken.map(async (text) => dns.removeText(zone, name, text, signal)),
  ];
  await afterCollecting(clock, Promise.all(orders));
}

/** What a zone holds of one machine. */
function of(place: Place, node: string, address: string, claimUid = node): string[] {
  const name = nameOf(place, node);
  return [
    `${name} A ${address}`,
    `_kpu.${name} TXT "heritage=karpenter-unikraft,owner=cluster,nodeclaim=${claimUid}"`,
  ];
}

export const stories: Readonly<Record<string, Story>> = {
  'a zone is found and proven writable, and stays as it is': async (place) => {
    await expect(place.dns.resolveZone(`${place.zone}.`, undefined, signal)).resolves.toBe(
      place.zone,
    );
    await expect(place.contents()).resolves.toEqual([]);
  },

  'a zone that the server does not hold is said to be missing': async ({ dns }) => {
    const error = await failureOf(dns.resolveZone('elsewhere.example.org', undefined, signal));
    expect(error).toMatchObject({ code: 'KPU240', condition: 'DNSReady' });
  },

  'a record comes with its ownership, again without effect, and goes with it': async (place) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await upsert(place, 'web-1', '10.0.0.7');
    await expect(place.contents()).resolves.toEqual(of(place, 'web-1', '10.0.0.7').toSorted());

    await remove(place, 'web-1');
    await remove(place, 'web-1');
    await expect(place.contents()).resolves.toEqual([]);
  },

  'another address takes the place of the old one': async (place) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await upsert(place, 'web-1', '10.0.0.8');
    await expect(place.contents()).resolves.toEqual(of(place, 'web-1', '10.0.0.8').toSorted());
  },

  'an address of the other kind takes the place of the old one': async (place) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await upsert(place, 'web-1', '2001:db8::7');
    const [, mark = ''] = of(place, 'web-1', '');
    const record = `${nameOf(place, 'web-1')} AAAA 2001:db8::7`;
    await expect(place.contents()).resolves.toEqual([record, mark].toSorted());
  },

  'T30: whoever comes back after a kill finds what was written, and nothing is half': async (
    place,
  ) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await upsert(place, 'web-1', '10.0.0.7', { dns: place.other });
    await expect(place.contents()).resolves.toEqual(of(place, 'web-1', '10.0.0.7').toSorted());

    await place.delete(nameOf(place, 'web-1'), 'A');
    await upsert(place, 'web-1', '10.0.0.7', { dns: place.other });
    await expect(place.contents()).resolves.toEqual(of(place, 'web-1', '10.0.0.7').toSorted());
  },

  'T30: ownership without a record is taken away all the same': async (place) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await place.delete(nameOf(place, 'web-1'), 'A');
    await remove(place, 'web-1');
    await expect(place.contents()).resolves.toEqual([]);
  },

  'T30: a name of somebody else is neither overwritten nor removed': async (place) => {
    await place.put(nameOf(place, 'web-1'), 'A', '192.0.2.1');
    await place.put(nameOf(place, 'web-2'), 'CNAME', 'elsewhere.example.com');
    await upsert(place, 'web-3', '10.0.0.3', { by: 'other-claim' });
    const before = await place.contents();

    for (const node of ['web-1', 'web-2', 'web-3']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, each its own batch
      const error = await failureOf(upsert(place, node, '10.0.0.7'));
      expect(error).toBeInstanceOf(DnsConflict);
      expect(error.message).toContain(`${nameOf(place, node)} is taken by`);
      // oxlint-disable-next-line no-await-in-loop
      await remove(place, node);
    }
    expect(before).toHaveLength(4);
    await expect(place.contents()).resolves.toEqual(before);
  },

  'T30: a value that was changed by hand is set right, and removed as it reads': async (place) => {
    await upsert(place, 'web-1', '10.0.0.7');
    await place.put(nameOf(place, 'web-1'), 'A', '192.0.2.1');
    await upsert(place, 'web-1', '10.0.0.7');
    await expect(place.contents()).resolves.toEqual(of(place, 'web-1', '10.0.0.7').toSorted());

    await place.put(nameOf(place, 'web-1'), 'A', '192.0.2.2');
    await remove(place, 'web-1');
    await expect(place.contents()).resolves.toEqual([]);
  },

  'a wildcard of the user makes no name look taken': async (place) => {
    await place.put(`*.web-1.${place.zone}`, 'A', '192.0.2.9');
    await place.put(`*.${place.zone}`, 'A', '192.0.2.8');
    await upsert(place, 'web-1', '10.0.0.7');
    await upsert(place, 'web-2', '10.0.0.8');
    const contents = await place.contents();
    expect(contents).toEqual(expect.arrayContaining(of(place, 'web-1', '10.0.0.7')));
    expect(contents).toEqual(expect.arrayContaining(of(place, 'web-2', '10.0.0.8')));

    await remove(place, 'web-1');
    await remove(place, 'web-2');
    await expect(place.contents()).resolves.toHaveLength(2);
  },

  'all names below a machine are kept apart from their ownership': async (place) => {
    const name = `*.web-1.${place.zone}`;
    const records = [{ name, address: '10.0.0.7', ttl: 60 }];
    const order = place.dns.upsert(place.zone, records, owner('web-1'), signal);
    await afterCollecting(place.clock, order);
    await expect(place.contents()).resolves.toEqual(
      [
        `${name} A 10.0.0.7`,
        `_kpu._wildcard.web-1.${place.zone} TXT "heritage=karpenter-unikraft,owner=cluster,nodeclaim=web-1"`,
      ].toSorted(),
    );
    await afterCollecting(
      place.clock,
      place.dns.remove(place.zone, [name], owner('web-1'), signal),
    );
    await expect(place.contents()).resolves.toEqual([]);
  },

  'texts of several stand side by side at one name, and go one by one': async (place) => {
    const name = `_acme-challenge.web-1.${place.zone}`;
    const shown = (...texts: string[]): string[] => texts.map((text) => `${name} TXT "${text}"`);
    await setTexts(place, name, { add: ['a', 'b', 'a'] });
    await expect(place.contents()).resolves.toEqual(shown('a', 'b'));
    await setTexts({ ...place, dns: place.other }, name, { add: ['c'], remove: ['a', 'never'] });
    await expect(place.contents()).resolves.toEqual(shown('b', 'c'));
    await setTexts(place, name, { remove: ['b', 'c'] });
    await setTexts(place, name, { remove: ['b', 'c'] });
    await expect(place.contents()).resolves.toEqual([]);
  },

  'a text of somebody else at the name stays': async (place) => {
    const name = `_acme-challenge.${place.zone}`;
    await place.put(name, 'TXT', '"theirs, with \\"quotes\\""');
    const before = await place.contents();
    await setTexts(place, name, { add: ['ours'] });
    await expect(place.contents()).resolves.toHaveLength(2);
    await setTexts(place, name, { remove: ['ours'] });
    await expect(place.contents()).resolves.toEqual(before);
  },

  'where a name leads elsewhere no text is put, and the next order goes on': async (place) => {
    const name = `_acme-challenge.${place.zone}`;
    await place.put(name, 'CNAME', 'elsewhere.example.com');
    const error = await failureOf(setTexts(place, name, { add: ['ours'] }));
    expect(error).toBeInstanceOf(DnsConflict);
    expect(error.message).toContain(`${name} is a CNAME to elsewhere.example.com`);
    await setTexts(place, name, { remove: ['ours'] });
    await expect(place.contents()).resolves.toHaveLength(1);
  },

  'many machines are written together, all but the one whose name is taken': async (place) => {
    const nodes = Array.from({ length: 60 }, (_, index) => `web-${index}`);
    await place.put(nameOf(place, 'web-3'), 'A', '192.0.2.1');
    const orders = nodes.map(async (node) =>
      place.dns.upsert(
        place.zone,
        [{ name: nameOf(place, node), address: '10.0.0.7', ttl: 60 }],
        owner(node),
        signal,
      ),
    );
    const results = await afterCollecting(place.clock, Promise.allSettled(orders));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    await expect(place.contents()).resolves.toHaveLength(2 * 59 + 1);
  },
};
