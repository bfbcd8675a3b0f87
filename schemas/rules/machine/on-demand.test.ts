import { describe, expect, test } from 'vitest';

import type { MachineTemplate, NodeClaim, NodePool, Requirement } from '../../karpenter/types.ts';
import type { KubeObject } from '../../kubernetes/meta.ts';
import { corpus } from '../corpus.ts';
import { violations } from '../evaluate.ts';
import { capacityType, pool } from '../samples.ts';

const create = { operation: 'CREATE' };
const rules = ['pool-requirement-leaves-on-demand', 'claim-requirement-leaves-on-demand'];

/** Indexes of the requirements that rule machines out. */
function ruledOut(object: KubeObject): number[] {
  return violations(object, create)
    .filter(({ rule }) => rules.includes(rule))
    .map(({ path }) => Number(/\[(\d+)\]$/.exec(path)?.[1]));
}

function templateOf(object: KubeObject): MachineTemplate {
  const { spec } = object as NodePool | NodeClaim;
  return 'template' in spec ? spec.template.spec : spec;
}

/** Does with each requirement that is told of what the refusal says; undefined removes it. */
function followed(object: KubeObject, by: Requirement | undefined): KubeObject {
  const told = ruledOut(object);
  const changed = structuredClone(object);
  const template = templateOf(changed);
  template.requirements = template.requirements.flatMap((one, index) =>
    told.includes(index) ? [by ?? []].flat() : [one],
  );
  return changed;
}

/** `NotIn with on-demand among 2`: what a person can have written. */
function spelling({ operator, values = [] }: Requirement): string {
  const among = values.includes('on-demand') ? 'with' : 'without';
  return `${operator} ${among} on-demand among ${values.length}`;
}

describe('the way out that the refusal of a requirement names leads out', () => {
  const written = corpus()
    .filter(({ odd, object }) => !odd && ruledOut(object).length > 0)
    .map(({ object }) => object);

  test('from every spelling that is refused', () => {
    const spellings = written.flatMap((object) =>
      ruledOut(object).map((index) => spelling(templateOf(object).requirements[index]!)),
    );
    expect(new Set(spellings.map((one) => one.split(' ', 1)[0]))).toEqual(
      new Set(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte']),
    );
    expect(spellings).toContain('NotIn with on-demand among 1');
    expect(spellings).toContain('Exists without on-demand among 1');
  });

  test.each([
    ['written as In with on-demand', capacityType('In', 'on-demand')],
    ['removed', undefined],
  ])('%s', (_, by) => {
    expect(written.map((object) => ruledOut(followed(object, by)))).toEqual(written.map(() => []));
  });

  test('which adding it to the values would not, where they say what is not wanted', () => {
    expect(ruledOut(pool([capacityType('NotIn', 'on-demand', 'spot')]))).toEqual([0]);
  });
});
