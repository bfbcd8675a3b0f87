import { nodeClassRules } from './node-class.ts';
import { onDemandRules } from './on-demand.ts';
import type { Rule } from './rule.ts';

/** Every rule of admission. docs/reference/admission.md and the rules in the CRD are made from it. */
export const rules: readonly Rule[] = [...onDemandRules, ...nodeClassRules];
