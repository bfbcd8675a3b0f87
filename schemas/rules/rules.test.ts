import { describe as group, expect, test } from 'vitest';

import { pods } from '../kubernetes/resource.ts';
import { compile, InvalidRule } from './cel.ts';
import { violations } from './evaluate.ts';
import { tableTroubles } from './lint.ts';
import { describe, resourcesOf, type Rule, type Violation } from './rule.ts';
import { capacityType, claim, nodeClass, pool } from './samples.ts';
import { rules } from './table.ts';

const create = { operation: 'CREATE' };

/** What an object breaks as the rule's own samples are written: made, or updated from what was there before. */
function brokenBy(
  { before, operations, ...rule }: Rule,
  object: Rule['accepts'][number],
): Violation[] {
  const [resource = ''] = resourcesOf(rule);
  const [, subResource] = resource.split('/');
  const [operation = ''] = operations;
  return violations(object, { operation, subResource, ...(before && { oldObject: before }) });
}

group.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  test.each(rule.accepts.map((sample, index) => [index, sample] as const))(
    'accepts sample %d, which nothing else refuses either',
    (_, sample) => {
      const broken = brokenBy(rule, sample);
      expect(broken.filter((one) => one.rule === name || one.severity === 'deny')).toEqual([]);
    },
  );

  test.each(rule.rejects.map((sample, index) => [index, sample] as const))(
    'rejects sample %d',
    (_, sample) => {
      expect(brokenBy(rule, sample).map((one) => one.rule)).toContain(name);
    },
  );
});

group('the table', () => {
  test('has no troubles', () => {
    expect(tableTroubles(rules)).toEqual([]);
  });

  test('writes sentences, and warnings that fit where they are cut off', () => {
    const texts = rules.flatMap(({ message, fix, docs }) => [message, fix, docs]);
    expect(texts.filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual([]);
    const warned = rules.filter(({ severity }) => severity === 'warn');
    const lines = warned.map(({ code, path, message }) => `${code} ${path}: ${message}`);
    expect(lines.filter((line) => line.length > 256)).toEqual([]);
  });

  test('is refused by nothing but what can never work: each refusal of a Pod is about the Pod alone', () => {
    const denied = rules.filter(({ target, severity }) => target === pods && severity === 'deny');
    expect(denied.flatMap(({ operations }) => operations)).not.toContain('UPDATE');
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
        'spot or nothing, so it would never get one. Write it as operator In with the value "on-demand", or remove the requirement. (KPU101)',
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
    const found = violations(ours, { operation: 'UPDATE', oldObject: theirs });
    expect(found.map(({ code }) => code)).toContain('KPU101');
  });

  test('a reference of our group that names another kind: nobody would act on it', () => {
    const odd = claim([]);
    odd.spec.nodeClassRef.kind = 'OtherNodeClass';
    expect(violations(odd, create).map(({ code }) => code)).toEqual(['KPU103']);
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
    expect(compile("self == 'call(me)'")({ self: 'call(me)' })).toBe(true);
    expect(compile("quantity(string(self)).isLessThan(quantity('1Gi'))")({ self: '1000Mi' })).toBe(
      true,
    );
    expect(compile('isQuantity(string(self))')({ self: '4GB' })).toBe(false);
    expect(compile('self + 1 > size([1])')({ self: 1 })).toBe(true);
  });
});
