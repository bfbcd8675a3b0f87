import {
  nodeClaims,
  nodePools,
  type MachineTemplate,
  type Requirement,
} from '../../karpenter/types.ts';
import type { Rule } from '../rule.ts';
import { claim, pool } from '../samples.ts';

type Samples = readonly Readonly<Partial<MachineTemplate>>[];

/** What a rule on the part that pools and claims have in common is made from. */
export type SharedRule = Omit<
  Rule,
  'target' | 'operations' | 'path' | 'name' | 'accepts' | 'rejects'
> & {
  /** Without its first word: `requirement-can-be-met`. */
  readonly name: string;
  /** From the template's spec; empty for the spec itself. */
  readonly path: string;
  readonly accepts: Samples;
  readonly rejects: Samples;
};

/**
 * One rule for NodePools and the same for NodeClaims. A claim's spec never changes, so it is judged when it is made:
 * claims that people make by hand have to hold as well.
 */
export function forPoolsAndClaims({ name, path, accepts, rejects, ...rule }: SharedRule): Rule[] {
  const ofPool = (one: Samples[number]) => pool(one.requirements ?? [], {}, one);
  const ofClaim = (one: Samples[number]) => claim(one.requirements ?? [], one);
  return [
    {
      ...rule,
      name: `pool-${name}`,
      target: nodePools,
      operations: ['CREATE', 'UPDATE'],
      path: below('spec.template.spec', path),
      accepts: accepts.map(ofPool),
      rejects: rejects.map(ofPool),
    },
    {
      ...rule,
      name: `claim-${name}`,
      target: nodeClaims,
      operations: ['CREATE'],
      path: below('spec', path),
      accepts: accepts.map(ofClaim),
      rejects: rejects.map(ofClaim),
    },
  ];
}

function below(root: string, path: string): string {
  return path === '' ? root : `${root}.${path}`;
}

/** Templates with these requirements, one each. */
export function asking(...requirements: Requirement[]): Samples {
  return requirements.map((one) => ({ requirements: [one] }));
}
