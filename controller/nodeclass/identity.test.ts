import { describe, expect, test } from 'vitest';

import { nodeClassSpec } from '../testing/objects.ts';
import { revisionName, specHash, staticPart } from './identity.ts';

const plain = nodeClassSpec({ platform: { overhead: { memory: '4Gi' } } });

describe('a spec that makes the same machines has the same hash', () => {
  test.each([
    ['deadlines are behaviour', { ...plain, deadlines: { launch: '1m' } }],
    ['memory in other units', { ...plain, platform: { overhead: { memory: '4096Mi' } } }],
    ['defaults spelled out', staticPart(plain)],
    [
      'keys in another order',
      Object.fromEntries(Object.entries(plain).toReversed()) as typeof plain,
    ],
  ])('%s', (_, spec) => {
    expect(specHash(spec)).toBe(specHash(plain));
  });

  test('selector terms in another order', () => {
    const terms = [{ id: 'subnet-1' }, { id: 'subnet-2' }];
    const withTerms = (subnetSelectorTerms: typeof terms) =>
      specHash({
        ...plain,
        aws: { region: 'eu-central-1', securityGroupSelectorTerms: [], subnetSelectorTerms },
      });
    expect(withTerms(terms)).toBe(withTerms(terms.toReversed()));
  });
});

describe('a spec that makes other machines has another hash', () => {
  test.each([
    [
      'region',
      {
        ...plain,
        aws: { region: 'eu-west-1', subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
      },
    ],
    ['memory', { ...plain, platform: { overhead: { memory: '5Gi' } } }],
    [
      'a percentage',
      { ...plain, platform: { overhead: { memory: '4Gi' }, capacity: { vcpus: '400%' } } },
    ],
    [
      'an empty value for the chart',
      { ...plain, kraftlet: { ...plain.kraftlet, values: { proxy: '' } } },
    ],
    ['null for the chart', { ...plain, kraftlet: { ...plain.kraftlet, values: { proxy: null } } }],
    [
      'another version of the chart',
      { ...plain, kraftlet: { ...plain.kraftlet, version: '9.9.9' } },
    ],
    ['tags', { ...plain, tags: { team: '' } }],
  ])('%s', (_, spec) => {
    expect(specHash(spec)).not.toBe(specHash(plain));
  });
});

describe('the name of a revision', () => {
  test('begins with the class, fits a label value, and ends the cut part well', () => {
    const name = revisionName(`${'a'.repeat(51)}.${'b'.repeat(60)}`, plain, { imageID: 'ami-1' });
    expect(name).toMatch(/^a{51}-[0-9a-f]{10}$/);
    expect(revisionName('default', plain, { imageID: 'ami-1' })).toMatch(/^default-[0-9a-f]{10}$/);
  });

  test('differs by image and certificate, and by class even when long names begin alike', () => {
    const long = 'a'.repeat(60);
    const names = [
      revisionName('default', plain, { imageID: 'ami-1' }),
      revisionName('default', plain, { imageID: 'ami-2' }),
      revisionName(`${long}1`, plain, { imageID: 'ami-1' }),
      revisionName(`${long}2`, plain, { imageID: 'ami-1' }),
      revisionName('default', plain, { imageID: 'ami-1', certificate: 'a' }),
      revisionName('default', plain, { imageID: 'ami-1', certificate: 'b' }),
    ];
    expect(new Set(names).size).toBe(names.length);
  });
});
