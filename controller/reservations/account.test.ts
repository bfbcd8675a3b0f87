import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Quantity } from '#schemas/quantity/quantity.ts';

import { Account } from './account.ts';
import { amountOf, entryOf, usedBy, type Bound, type Entry, type Ledger } from './ledger.ts';

interface Move {
  readonly uid: string;
  readonly kind: 'ask' | 'put' | 'remove';
  readonly cpu: number;
  readonly memory: number;
  readonly pool: string;
}

const moves = fc.array(
  fc.record<Move>({
    uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    kind: fc.constantFrom('ask', 'ask', 'put', 'remove'),
    cpu: fc.integer({ min: 0, max: 8 }),
    memory: fc.integer({ min: 0, max: 32 }),
    pool: fc.constantFrom('web', 'batch'),
  }),
  { maxLength: 40 },
);

const covers = ({ pool }: Entry): boolean => pool === 'web';
const bounds: readonly Bound[] = [
  { resource: 'cpu', amount: '16' },
  { resource: 'memory', amount: '64Gi' },
  { resource: 'nodes', amount: '4' },
  { resource: 'cpu', amount: '9', policy: 'team', covers },
  { resource: 'memory', amount: '40Gi', policy: 'team', covers },
];

/** As the rule reads: each limit against the sum of all others that it covers. */
function grants(ledger: Ledger, uid: string, { resources }: Entry): boolean {
  return bounds.every(({ resource, amount, covers: isCovered = () => true }) => {
    const others = [...ledger].flatMap(([holder, entry]) =>
      holder !== uid && isCovered(entry) ? [entry] : [],
    );
    const asked = amountOf(resources, resource);
    const isMore = asked.compareTo(amountOf(ledger.get(uid)?.resources ?? {}, resource)) > 0;
    const sum = amountOf(usedBy(others), resource).add(asked);
    return !isMore || sum.compareTo(Quantity.parse(amount)) <= 0;
  });
}

test('sums that are kept up judge as sums that are counted anew', () => {
  const property = fc.property(moves, (all) => {
    const account = new Account(new Map());
    for (const { uid, kind, cpu, memory, pool } of all) {
      const entry = entryOf(uid, { cpu: String(cpu), memory: `${memory}Gi` }, { pool });
      const before = new Map(account.entries);
      const { granted } = account.judge(bounds, uid, entry.resources);
      expect(granted).toBe(grants(before, uid, entry));
      if (kind === 'remove') account.remove(uid);
      else if (kind === 'put' || granted) account.put(uid, entry);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test('what others hold is told as it would be counted', () => {
  const [a, b] = ['a', 'b'].map((name) => entryOf(name, { memory: '16Gi' }));
  const account = new Account(new Map([['a', a!]]));
  account.put('b', b!);
  account.put('b', entryOf('b', { memory: '24Gi' }));
  const limits = [{ resource: 'memory', amount: '48Gi' }];
  expect(account.judge(limits, 'b', { memory: '40Gi' })).toEqual({
    granted: false,
    resource: 'memory',
    limit: '48Gi',
    use: '16Gi',
    asked: '40Gi',
  });
  expect(account.judge(limits, 'c', { memory: '9Gi' })).toMatchObject({ use: '40Gi' });
});
