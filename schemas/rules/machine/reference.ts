import { group, nodeClassKind } from '../../names.ts';
import type { Rule } from '../rule.ts';
import { forPoolsAndClaims } from './both.ts';

const ours = { group, kind: nodeClassKind, name: 'default' };

/** A reference that is half ours is nobody's: no provider would act on it, and it would wait in silence. */
export const referenceRules: readonly Rule[] = [
  ...forPoolsAndClaims({
    code: 'KPU103',
    severity: 'deny',
    name: 'names-group-and-kind-of-our-class',
    path: 'nodeClassRef',
    cel: `has(self.group) && self.group == '${group}' && has(self.kind) && self.kind == '${nodeClassKind}'`,
    message: 'The reference to the node class is half ours, so no provider would act on it.',
    fix: `Set group to ${group} and kind to ${nodeClassKind}.`,
    docs: `Of the group ${group} there is one kind of node class. References to other groups are other providers' and never judged.`,
    accepts: [{ nodeClassRef: ours }],
    rejects: [
      { nodeClassRef: { ...ours, kind: 'NodeClass' } },
      { nodeClassRef: { ...ours, kind: 'unikraftnodeclass' } },
    ],
  }),
  ...forPoolsAndClaims({
    code: 'KPU103',
    severity: 'deny',
    name: 'names-a-class-that-can-exist',
    path: 'nodeClassRef',
    cel: "has(self.name) && size(self.name) <= 63 && self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",
    message: 'The name in nodeClassRef is none that a UnikraftNodeClass can have.',
    fix: 'Write the name of the UnikraftNodeClass: lower-case letters, digits, dots and dashes, at most 63.',
    docs: 'Nodes bear the name as a label. That the class exists is not asked: a pool may come before it.',
    accepts: [{ nodeClassRef: { ...ours, name: 'gpu-2.large' } }],
    rejects: [
      { nodeClassRef: { ...ours, name: 'Default' } },
      { nodeClassRef: { ...ours, name: 'a'.repeat(64) } },
      { nodeClassRef: { ...ours, name: 'default/x' } },
    ],
  }),
];
