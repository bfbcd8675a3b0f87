import { changeRules } from './change.ts';
import { lifetimeRules } from './machine/lifetime.ts';
import { onDemandRules } from './machine/on-demand.ts';
import { referenceRules } from './machine/reference.ts';
import { requirementRules } from './machine/requirements.ts';
import { taintRules } from './machine/taints.ts';
import { bootstrapRules } from './node-class/bootstrap.ts';
import { capacityRules } from './node-class/capacity.ts';
import { certificateRules } from './node-class/certificate.ts';
import { cloudRules } from './node-class/clouds.ts';
import { dnsRules } from './node-class/dns.ts';
import { joiningRules } from './node-class/joining.ts';
import { machineRules } from './node-class/machine.ts';
import { nodeClassShapeRules } from './node-class/shape.ts';
import { disruptionRules } from './node-pool/disruption.ts';
import { poolLabelRules } from './node-pool/labels.ts';
import { limitRules } from './node-pool/limits.ts';
import { containerRules } from './pod/containers.ts';
import { placementRules } from './pod/placement.ts';
import { runningRules } from './pod/running.ts';
import { volumeRules } from './pod/volumes.ts';
import type { Rule } from './rule.ts';

/** Every rule of admission. The CRD, the policies, the webhook and docs/reference/admission.md are made from it. */
export const rules: readonly Rule[] = [
  ...onDemandRules,
  ...referenceRules,
  ...requirementRules,
  ...poolLabelRules,
  ...taintRules,
  ...lifetimeRules,
  ...disruptionRules,
  ...limitRules,
  ...nodeClassShapeRules,
  ...cloudRules,
  ...dnsRules,
  ...certificateRules,
  ...machineRules,
  ...bootstrapRules,
  ...capacityRules,
  ...joiningRules,
  ...placementRules,
  ...containerRules,
  ...volumeRules,
  ...runningRules,
  ...changeRules,
];
