import { describe as group, expect, test } from 'vitest';

import { codes } from '../errors/codes.ts';
import { compile, InvalidRule } from './cel.ts';
import { violations } from './evaluate.ts';
import { describe, type Rule } from './rule.ts';
import { capacityType, claim, nodeClass, pool } from './samples.ts';
import { rules } from './table.ts';

const create = { operation: 'CREATE' };

function brokenBy(object: Rule['accepts'][number]): string[] {
  return violations(object, create).map(({ rule }) => rule);
}

group.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  test.each(rule.accepts.map((sample, index) => [index, sample] as const))(
    'accepts sample %d, as every other rule does',
    (_, sample) => {
      expect(brokenBy(sample)).toEqual([]);
    },
  );

  test.each(rule.rejects.map((sample, index) => [index, sample] as const))(
    'rejects sample %d',
    (_, sample) => {
      expect(brokenBy(sample)).toContain(name);
    },
  );
});

group('the table', () => {
  test('names each rule once, explains its code, and has samples of both kinds', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    expect(rules.filter(({ code }) => !(code in codes))).toEqual([]);
    expect(rules.filter((rule) => !rule.accepts.length || !rule.rejects.length)).toEqual([]);
  });

  test('writes sentences', () => {
    for (const { message, fix, docs } of rules) {
      for (const text of [message, fix, docs]) expect(text).toMatch(/^[A-Z].*\.$/);
    }
  });
});

group('a refusal', () => {
  test('names the place, the reason, the way out and the code in one breath', () => {
    const bad = pool([
      { key: 'kubernetes.io/arch', operator: 'Exists' },
      capacityType('In', 'spot'),
    ]);
    expect(violations(bad, create).map(describe)).toEqual([
      'spec.template.spec.requirements[1]: Unikraft machines launch on demand only; this NodePool allows only ' +
        'spot or nothing, so it would never get one. Add "on-demand" to the values, or remove the requirement. (KPU101)',
    ]);
  });

  test('is given for each place', () => {
    const bad = pool([capacityType('In', 'spot'), capacityType('NotIn', 'on-demand')], {
      'karpenter.sh/capacity-type': 'spot',
    });
    expect(violations(bad, create).map(({ path }) => path)).toEqual([
      'spec.template.spec.requirements[0]',
      'spec.template.spec.requirements[1]',
      'spec.template.metadata.labels',
    ]);
  });
});

group('what is left alone', () => {
  test("another provider's pool, whatever it asks for", () => {
    const theirs = pool([capacityType('In', 'spot')]);
    theirs.spec.template.spec.nodeClassRef = {
      group: 'karpenter.k8s.aws',
      kind: 'EC2NodeClass',
      name: 'default',
    };
    expect(violations(theirs, create)).toEqual([]);
  });

  test('a kind of our group name that is not ours', () => {
    const odd = claim([capacityType('In', 'spot')]);
    odd.spec.nodeClassRef.kind = 'OtherNodeClass';
    expect(violations(odd, create)).toEqual([]);
  });

  test('an update that does not touch the spec of a pool that is bad already', () => {
    const old = pool([capacityType('In', 'spot')]);
    const annotated = { ...old, metadata: { name: 'sample', annotations: { seen: 'yes' } } };
    expect(violations(annotated, { operation: 'UPDATE', oldObject: old })).toEqual([]);
  });

  test('a deletion', () => {
    expect(violations(pool([capacityType('In', 'spot')]), { operation: 'DELETE' })).toEqual([]);
  });

  test.each([{}, { kind: 'NodePool' }, { kind: 'constructor' }, { kind: 'Pod', apiVersion: 'v1' }])(
    'an object that is hardly one: %j',
    (object) => {
      expect(violations(object, create)).toEqual([]);
    },
  );
});

group('what is judged all the same', () => {
  test('an update that makes a good pool bad', () => {
    const review = { operation: 'UPDATE', oldObject: pool([]) };
    expect(violations(pool([capacityType('In', 'spot')]), review)).toHaveLength(1);
  });

  test('an update that points a pool of another provider at us', () => {
    const ours = pool([capacityType('In', 'spot')]);
    const theirs = structuredClone(ours);
    theirs.spec.template.spec.nodeClassRef.group = 'karpenter.k8s.aws';
    expect(violations(ours, { operation: 'UPDATE', oldObject: theirs })).toHaveLength(1);
  });

  test('a value of a shape that CEL stumbles over is refused with its place, and nothing is thrown', () => {
    const odd = nodeClass({ tags: ['team'] as unknown as Record<string, string> });
    const strange = pool(['spot'] as never);
    expect(violations(strange, create)[0]).toMatchObject({
      path: 'spec.template.spec.requirements[0]',
      message: expect.stringContaining('cannot be judged') as string,
    });
    expect(() => violations(odd, create)).not.toThrow();
  });

  test('objects that carry names of JavaScript', () => {
    const bad = pool([capacityType('In', 'spot')], {
      constructor: 'a',
      hasOwnProperty: 'b',
      ['__proto__']: 'c',
    });
    expect(violations(bad, create)).toHaveLength(1);
  });
});

group('an expression', () => {
  test.each([
    ['self.lowerAscii() == self', 'does not mean the same everywhere'],
    ['cel.bind(x, self, x)', 'does not mean the same everywhere'],
    ['self ==', 'rule "self =="'],
  ])('%s is no rule', (cel, because) => {
    expect(() => compile(cel)).toThrow(InvalidRule);
    expect(() => compile(cel)).toThrow(because);
  });

  test('may speak of brackets in a string, and of quantities', () => {
    expect(compile("self == 'call(me)'")('call(me)')).toBe(true);
    expect(compile("quantity(self).isLessThan(quantity('1Gi'))")('1000Mi')).toBe(true);
    expect(compile('isQuantity(self)')('4GB')).toBe(false);
    expect(compile('self + 1 > size([1])')(1)).toBe(true);
  });
});
