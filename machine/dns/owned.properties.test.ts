import fc from 'fast-check';
import { expect, test } from 'vitest';

import { changesFor, ownedNames, type RecordSet } from './changes.ts';

const cluster = fc.constantFrom('a', 'b');
const label = fc.constantFrom('web', '*.web', 'api.web-1', 'batch');
const machine = fc.record({ cluster, label, claim: fc.constantFrom('u1', 'u2') });
const strangers = fc.constantFrom<RecordSet>(
  { name: 'www.example.com', type: 'A', ttl: 60, values: ['192.0.2.1'] },
  { name: '_kpu.old.example.com', type: 'TXT', ttl: 60, values: ['"v=spf1 -all"'] },
  {
    name: 'copied.example.com', // our text where we write none
    type: 'TXT',
    ttl: 60,
    values: ['"heritage=karpenter-unikraft,owner=a,nodeclaim=u1"'],
  },
  {
    name: '_kpu.other.example.com',
    type: 'TXT',
    ttl: 60,
    values: ['"heritage=external-dns,owner=a,nodeclaim=u1"'],
  },
);

/** A zone after all these machines wrote their names, first come first served, beside records of others. */
function zoneOf(machines: readonly { cluster: string; label: string; claim: string }[]) {
  const sets: RecordSet[] = [];
  const held = new Map<string, string>();
  for (const { cluster: clusterUid, label: below, claim: claimUid } of machines) {
    const name = `${below}.example.com`;
    if (held.has(name)) continue;
    held.set(name, `${clusterUid} ${claimUid}`);
    const record = { name, address: '10.0.0.7', ttl: 60 };
    const wish = { name, record, owner: { clusterUid, claimUid } };
    sets.push(...changesFor(wish, new Map()).map(({ set }) => set));
  }
  return { sets, held };
}

test('a cluster’s names are those that it wrote, with their addresses, and nobody else’s', () => {
  fc.assert(
    fc.property(fc.array(machine), fc.uniqueArray(strangers), (machines, others) => {
      const { sets, held } = zoneOf(machines);
      const zone = [...others, ...sets];
      for (const uid of ['a', 'b']) {
        const found = ownedNames(zone, uid);
        const expected = [...held].filter(([, holder]) => holder.startsWith(`${uid} `));
        expect(
          found.map(({ name, owner }) => [name, `${owner.clusterUid} ${owner.claimUid}`]),
        ).toEqual(expected);
        const addresses = found.flatMap((one) => one.addresses);
        expect(addresses).toEqual(expected.map(() => '10.0.0.7'));
      }
    }),
  );
});
