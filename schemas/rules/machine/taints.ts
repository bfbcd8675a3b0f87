import { taints } from '../../names.ts';
import type { Rule } from '../rule.ts';
import { taint } from '../samples.ts';
import { oneLine } from '../text.ts';
import { forPoolsAndClaims } from './both.ts';

const { key, value, effect } = taints.kraftlet;
const isVendors = `self.key == '${key}' && self.effect == '${effect}'`;

const all =
  '((has(self.taints) ? self.taints : []) + (has(self.startupTaints) ? self.startupTaints : []))';

/**
 * A Node of Kraftlet is born with one taint; registration replaces it by the vendor's and the pool's. A Node has one
 * taint for each key and effect.
 */
export const taintRules: readonly Rule[] = [
  ...forPoolsAndClaims({
    code: 'KPU107',
    severity: 'deny',
    name: 'taint-is-not-of-the-operator',
    path: '{taints,startupTaints}[]',
    cel: "!self.key.startsWith('karpenter.sh/')",
    message:
      'The operator puts taints of karpenter.sh on Nodes and takes them off itself, so the Node would never open.',
    fix: 'Choose a key of your own domain.',
    docs: 'By karpenter.sh/unregistered a Node is closed until it is registered, by karpenter.sh/disrupted while it is emptied.',
    accepts: [{ taints: [taint('example.com/team', 'NoSchedule', 'a')] }, { taints: [] }],
    rejects: [
      { taints: [taint('karpenter.sh/unregistered', 'NoExecute')] },
      { startupTaints: [taint('karpenter.sh/disrupted', 'NoSchedule')] },
    ],
  }),
  ...forPoolsAndClaims({
    code: 'KPU107',
    severity: 'deny',
    name: 'taint-leaves-the-vendors-alone',
    path: 'taints[]',
    cel: `!(${isVendors}) || (has(self.value) && self.value == '${value}')`,
    message: `Kraftlet's Nodes have the taint ${key}=${value}:${effect}, and a Node has one taint of a key and effect.`,
    fix: `Remove this taint, or give it the value ${value}.`,
    docs: 'The other value could never be on the Node, so Pods that tolerate it alone would never fit.',
    accepts: [{ taints: [taint(key, effect, value)] }, { taints: [taint(key, 'NoExecute', 'x')] }],
    rejects: [{ taints: [taint(key, effect, 'azure')] }, { taints: [taint(key, effect)] }],
  }),
  ...forPoolsAndClaims({
    code: 'KPU107',
    severity: 'deny',
    name: 'startup-taint-is-not-the-vendors',
    path: 'startupTaints[]',
    cel: `!(${isVendors})`,
    message:
      "The vendor's taint stays on a Node for good, so as a startup taint it would never go.",
    fix: 'Remove it: every Node has it anyway.',
    docs: 'A Node is initialized once its startup taints are gone.',
    accepts: [{ startupTaints: [] }],
    rejects: [{ startupTaints: [taint(key, effect, value)] }],
  }),
  ...forPoolsAndClaims({
    code: 'KPU107',
    severity: 'deny',
    name: 'taints-are-told-apart',
    path: '',
    cel: oneLine(`${all}.all(a, ${all}.exists_one(b, b.key == a.key && b.effect == a.effect))`),
    message:
      'A key and effect stand twice in taints and startupTaints, and a Node can have them only once.',
    fix: 'Keep one of them.',
    docs: 'As upstream has it, which tells it in a condition only.',
    accepts: [
      { taints: [taint('a', 'NoSchedule'), taint('a', 'NoExecute')] },
      { taints: [taint('a', 'NoSchedule')], startupTaints: [] },
    ],
    rejects: [{ taints: [taint('a', 'NoSchedule', 'x'), taint('a', 'NoSchedule', 'y')] }],
  }),
  ...forPoolsAndClaims({
    code: 'KPU108',
    severity: 'warn',
    name: 'startup-taint-is-taken-off-from-elsewhere',
    path: 'startupTaints',
    cel: 'size(self) == 0',
    message:
      'Nothing runs on a Unikraft Node that could take its startup taints off; until somebody does, it is not initialized.',
    fix: 'Remove them, unless a controller elsewhere in the cluster takes them off.',
    docs: 'Startup taints are for agents that come with a DaemonSet, and those do not run on virtual nodes.',
    accepts: [{ startupTaints: [] }],
    rejects: [{ startupTaints: [taint('cni.example.com/not-ready', 'NoExecute')] }],
  }),
];
