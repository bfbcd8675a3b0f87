import { describe, expect, test } from 'vitest';

import { pods } from '../kubernetes/resource.ts';
import { unikraftNodeClasses } from '../nodeclass/types.ts';
import { tableTroubles } from './lint.ts';
import type { Rule } from './rule.ts';
import { nodeClass, pod } from './samples.ts';
import { subsetTroubles } from './subset.ts';

const good: Rule = {
  name: 'good',
  code: 'KPU101',
  target: pods,
  operations: ['CREATE'],
  severity: 'deny',
  path: 'spec',
  cel: 'has(self.containers)',
  message: 'It has none.',
  fix: 'Give it one.',
  docs: 'It needs one.',
  accepts: [pod()],
  rejects: [{}],
};

describe('a table', () => {
  test.each<[string, Partial<Rule>, string]>([
    ['without what it accepts', { accepts: [] }, 'has no sample that it accepts'],
    ['without what it rejects', { rejects: [] }, 'has no sample that it rejects'],
    ['with a code that nobody explains', { code: 'KPU999' as Rule['code'] }, 'is not explained'],
    ['that compares on CREATE', { cel: 'self == oldSelf' }, 'was not there on CREATE'],
    [
      'that compares items of a list',
      { cel: 'self == oldSelf', path: 'spec.containers[]', operations: ['UPDATE'], before: pod() },
      'items of lists',
    ],
    ['whose samples are an update of nothing', { operations: ['UPDATE'] }, 'an update of'],
    ['that asks a number for a quantity', { cel: 'isQuantity(self)' }, 'fails on numbers'],
    [
      'whose cost a CRD cannot bear',
      { target: unikraftNodeClasses, cel: "quantity(string(self)) == quantity('1')" },
      'no bound in the cost',
    ],
  ])('%s is told', (_, change, trouble) => {
    expect(tableTroubles([{ ...good, ...change }])).toContainEqual(
      expect.stringContaining(trouble),
    );
  });

  test('with one name twice is told', () => {
    expect(tableTroubles([good, good])).toEqual(['good: is the name of two rules']);
  });

  test('may ask the text of a node class for a quantity', () => {
    const rule = { ...good, target: unikraftNodeClasses, accepts: [nodeClass()] };
    expect(tableTroubles([{ ...rule, cel: "quantity(self) == quantity('1')" }])).toEqual([]);
  });
});

/** Each of these is read differently by cel-js and by Kubernetes, or by one of them alone. */
describe('an expression that does not mean the same everywhere', () => {
  test.each([
    ['cel.bind(x, self, x)', 'bind()'],
    ['self.lowerAscii() == self', 'lowerAscii()'],
    ["self.find('a') == self", 'find()'],
    ["self.map(k, v, k == 'a')", 'map()'],
    ['duration(self) < self', 'duration()'],
    ["self.?a.orValue('x') == 'x'", 'optionals'],
    ["self[?'a'] == self", 'optionals'],
    ["self == {'a': 1}", 'map literal'],
    ['self > 1.5', 'decimals'],
    ['self > 1u', 'unsigned'],
    ["self == r'a'", 'raw strings'],
    ["self == b'a'", 'bytes'],
    ['self.matches(self.pattern)', 'has to be a literal'],
    ["self.matches('^a$') && self.matches(self.b)", 'has to be a literal'],
    ["self.matches('[[:alpha:]]+')", 'by name'],
    ["self.matches('(?i)a')", '(?'],
    ["self.matches('(?=a)b')", '(?'],
    ["self.matches('a{2}')", 'repetition'],
    [String.raw`self.matches('\d+')`, 'escapes'],
    ["self.matches('^.a$')", 'bare dot'],
    ["self == 'ä'", 'ASCII'],
    [String.raw`self == '\u0041'`, 'escapes'],
    ["has(self['a'].b)", 'plain path'],
    ['self.namespace == self', 'namespace is a word'],
  ])('%s', (cel, because) => {
    expect(subsetTroubles(cel).join('; ')).toContain(because);
  });

  test.each([
    "self.all(k, k.startsWith('a') && self[k] in ['a.b', '{c}'])",
    "self.matches('^([a-z0-9.-]*[.])?karpenter[.]sh/')",
    "!has(self.a.b) || quantity(string(self.a.b)).add(quantity('1')).isLessThan(quantity('2'))",
    String.raw`self == 'it\'s'`,
    'size(self.a + self.b) > 10 ? self.a == self.b : false',
  ])('while %s does', (cel) => {
    expect(subsetTroubles(cel)).toEqual([]);
  });
});
