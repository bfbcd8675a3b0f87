import { expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import { pool } from './testing/build.ts';
import { groups, nodeIn, nominated, planned, refused, zoned, zoneOf } from './testing/plans.ts';
import { apart, labelled, spread } from './testing/rules.ts';

/** Found by trying all answers to random problems; the first domain by name was taken whatever came later. */
test('a Pod that may go to any zone goes where one that comes later can join it', () => {
  const [web, cart] = [{ app: 'web' }, { app: 'cart' }];
  const plan = planned({
    nodes: [nodeIn('1a', 'there', '1')],
    pods: [
      ...labelled(1, web, apart(labels.zone, { app: 'none' }), { name: 'web', cpu: '3' }),
      ...labelled(2, cart, apart(labels.zone, cart), { name: 'cart' }),
    ],
  });

  expect(nominated(plan)).toEqual({ cart0: 'there' });
  expect(groups(plan)).toEqual([['cart1', 'web0']]);
  expect(plan.claims.map(zoneOf)).toEqual(['1b']);
});

/** Found in the same way: zones were kept even with two machines, so that a limit left none for the Pod that spreads. */
test('zones are not left even where that takes the last machine of a Pod that spreads', () => {
  const web = { app: 'web' };
  const plan = planned({
    pools: [pool('web', { sizes: zoned, limits: { nodes: '2' } })],
    pods: [
      ...labelled(3, web, {}, { cpu: '100m' }),
      ...labelled(1, web, spread(labels.zone, web), { name: 'even', cpu: '7' }),
    ],
  });

  expect(refused(plan)).toEqual([]);
  expect(groups(plan)).toEqual([['p0', 'p1', 'p2'], ['even0']]);
});
