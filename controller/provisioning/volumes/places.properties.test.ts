import fc from 'fast-check';
import { expect, test } from 'vitest';

import { fromSelector, matchesLabels } from '#scheduling/requirements.ts';
import type { NodeSelectorRequirement, PersistentVolume } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { both, placesOfClass, placesOfVolume, termsOf, type Places } from './places.ts';
import { onNodes } from './testing/storage.ts';

type Labels = Readonly<Record<string, string>>;

const keys = [labels.zone, 'rack', labels.hostname];
const values = ['a', 'b', 'c'];
const key = fc.constantFrom(...keys);
const some = fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });

const requirement: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values: some }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
const terms = fc.array(fc.array(requirement, { maxLength: 3 }), { minLength: 1, maxLength: 4 });
const volume: fc.Arbitrary<PersistentVolume> = terms.map((all) => ({
  spec: { csi: { driver: 'd' }, ...onNodes(...all) },
}));
const node: fc.Arbitrary<Labels> = fc
  .uniqueArray(fc.tuple(key, fc.constantFrom(...values)), { selector: ([name]) => name })
  .map((pairs) => Object.fromEntries(pairs));

/** As Kubernetes' documentation of node affinity has it; a term that says nothing fits nothing. */
function fits({ spec }: PersistentVolume, own: Labels): boolean {
  const all = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return all.some(
    ({ matchExpressions = [] }) =>
      matchExpressions.length > 0 && matchExpressions.every((one) => holds(one, own)),
  );
}

function holds({ key: name, operator, values: asked = [] }: NodeSelectorRequirement, own: Labels) {
  const value = own[name];
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  const isIn = value !== undefined && asked.includes(value);
  return operator === 'In' ? isIn : !isIn;
}

function isPlace(places: Places, own: Labels): boolean {
  return !places || termsOf(places).some((term) => matchesLabels(fromSelector(term), own));
}

test('a node has all volumes of a Pod exactly when it is one of their places', () => {
  fc.assert(
    fc.property(fc.array(volume, { maxLength: 3 }), node, (volumes, own) => {
      const places = volumes.map(placesOfVolume).reduce(both, undefined);
      fc.pre(!places || places.length < 64); // of more, the first are taken
      expect(isPlace(places, own)).toBe(volumes.every((one) => fits(one, own)));
    }),
    { numRuns: 1000 },
  );
});

test('places are few, however many terms and volumes there are, and each is a place of all volumes', () => {
  const ofMany = (name: string): PersistentVolume => ({
    spec: onNodes(
      ...Array.from({ length: 500 }, (_, index) => [
        { key: name, operator: 'In' as const, values: [`${index}`] },
        { key: labels.zone, operator: 'Exists' as const },
      ]),
    ),
  });
  const volumes = ['one', 'two', 'three', 'four'].map(ofMany);
  const places = volumes.map(placesOfVolume).reduce(both, undefined) ?? [];
  expect(places).toHaveLength(64);
  const [first] = places;
  expect([...(first?.keys() ?? [])].toSorted()).toEqual(
    ['four', 'one', labels.zone, 'three', 'two'].toSorted(),
  );
});

test('terms that only name zones are one place, of which the machine may have any', () => {
  const zones = ['1a', '1b', '1a'].map((zone) => ({
    matchLabelExpressions: [{ key: labels.zone, values: [zone] }],
  }));
  const places = placesOfClass({ provisioner: 'd', allowedTopologies: zones });
  expect(termsOf(places ?? [])).toEqual([
    [{ key: labels.zone, operator: 'In', values: ['1a', '1b'] }],
  ]);
});
