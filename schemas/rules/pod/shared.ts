import { pods } from '../../kubernetes/resource.ts';
import type { Rule } from '../rule.ts';

/** Pods are judged when they are made; what changes on them afterwards is none of their owner's doing. */
export const onPods = {
  target: pods,
  operations: ['CREATE'],
  severity: 'warn',
} as const satisfies Partial<Rule>;

/** Each container of each kind; ephemeral ones come later, by a subresource of their own. */
export const onContainers = {
  ...onPods,
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods', 'pods/ephemeralcontainers'],
  path: 'spec.{containers,initContainers,ephemeralContainers}[]',
} as const satisfies Partial<Rule>;
