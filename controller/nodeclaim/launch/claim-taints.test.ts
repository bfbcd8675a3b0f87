import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Taint } from '#schemas/kubernetes/core.ts';
import { taints } from '#schemas/names.ts';

import { nodeClaim, ourRef } from '../../testing/objects.ts';
import { lastingTaints, startupTaints } from './claim-taints.ts';

const team: Taint = { key: 'example.com/team', value: 'shop', effect: 'NoSchedule' };

function of(own: { taints?: Taint[]; startupTaints?: Taint[] }): Taint[][] {
  const spec = { nodeClassRef: ourRef, requirements: [], ...own };
  const claim = nodeClaim('web-1', { spec });
  return [lastingTaints(claim), startupTaints(claim)];
}

test.each<[string, { taints?: Taint[]; startupTaints?: Taint[] }, Taint[], Taint[]]>([
  ['nothing more', {}, [], []],
  ['its own', { taints: [team] }, [team], []],
  ['the vendor’s once more', { taints: [taints.kraftlet] }, [], []],
  ['the vendor’s with another value', { taints: [{ ...taints.kraftlet, value: 'azure' }] }, [], []],
  ['the vendor’s to be taken off', { startupTaints: [taints.kraftlet] }, [], []],
  ['the same twice', { taints: [team, { ...team, value: 'other' }] }, [team], []],
  ['one for good and at first', { taints: [team], startupTaints: [team] }, [team], []],
  ['one at first, twice', { startupTaints: [team, team] }, [], [team]],
  [
    'Karpenter’s own, which would close the Node',
    { taints: [taints.unregistered], startupTaints: [taints.disrupted] },
    [],
    [],
  ],
])('a claim that asks for %s', (_, own, lasting, startup) => {
  expect(of(own)).toEqual([[taints.kraftlet, ...lasting], startup]);
});

test('whatever a claim asks for, its Node can have it, and will once be ready', () => {
  const taint = fc.record({
    key: fc.constantFrom('a', 'b', ...Object.values(taints).map(({ key }) => key)),
    value: fc.constantFrom('x', 'ukc'),
    effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const),
  });
  const some = fc.array(taint, { maxLength: 5 });
  fc.assert(
    fc.property(some, some, (own, atFirst) => {
      const [lasting = [], startup = []] = of({ taints: own, startupTaints: atFirst });
      const identities = [...lasting, ...startup].map(({ key, effect }) => `${key}:${effect}`);
      expect(new Set(identities).size).toBe(identities.length);
      expect(lasting[0]).toEqual(taints.kraftlet);
      expect(identities.filter((one) => one.startsWith('karpenter.sh/'))).toEqual([]);
    }),
  );
});
