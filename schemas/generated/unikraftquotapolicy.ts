// Made by `npm run generate` from schemas/quotapolicy/unikraftquotapolicy.schema.yaml; do not edit.
import type { Condition } from '../kubernetes/meta.ts';

/**
 * What is limited, how far, and how strictly.
 */
export interface UnikraftQuotaPolicySpec {
  selector?: QuotaSelector;
  /**
   * What comes of a value above a ceiling. Deny refuses to have it written, where the quota policies component is installed, and holds the ceiling against what is written already. Cap admits it with a warning and uses the smaller value. Warn only warns, and Audit only leaves a note in the audit log; neither holds anything back.
   */
  enforcement: 'Deny' | 'Cap' | 'Warn' | 'Audit';
  ceilings: QuotaCeilings;
}

/**
 * Which machines are meant: those of NodePools and node classes that both parts select. Without a selector, all Unikraft machines.
 */
export interface QuotaSelector {
  nodePools?: NodePoolSelector;
  /**
   * Names of UnikraftNodeClasses.
   */
  nodeClasses?: string[];
}

/**
 * Which NodePools are meant. Both parts hold. NodeClaims without a NodePool are then not meant.
 */
export interface NodePoolSelector {
  /**
   * Names of NodePools.
   */
  names?: string[];
  /**
   * Labels that the NodePool itself must have.
   */
  matchLabels?: Record<string, string>;
}

/**
 * How much may be had. What is not named has no ceiling here.
 */
export interface QuotaCeilings {
  perMachine?: MachineCeilings;
  /**
   * What the machines of any one NodePool may have together.
   */
  perNodePool?: SumCeilings;
  /**
   * What all machines that the policy selects may have together; without a selector, all of the cluster. Only the controller can add up, so nothing is refused at a write for it.
   */
  total?: SumCeilings;
}

/**
 * What any one machine may offer: the quotas that its platform is given at its launch, and so what its Node has.
 */
export interface MachineCeilings {
  /**
   * vCPUs.
   */
  vcpus?: number;
  /**
   * Memory, such as 64Gi; whole MiB count.
   */
  memory?: string;
  /**
   * Storage for volumes, such as 500Gi; whole MiB count.
   */
  volumeStorage?: string;
  /**
   * Instances, which are Pods.
   */
  instances?: number;
}

/**
 * What several machines may have together.
 */
export interface SumCeilings {
  /**
   * vCPUs for Pods, such as 128.
   */
  cpu?: number | string;
  /**
   * Memory for Pods, such as 512Gi.
   */
  memory?: string;
  /**
   * Machines.
   */
  nodes?: number;
}

/**
 * What comes of it.
 */
export interface UnikraftQuotaPolicyStatus {
  /**
   * Ready tells whether the ceilings hold, Capped whether anything asks for more than they allow, LimitReached whether a sum leaves no room.
   */
  conditions?: Condition[];
  /**
   * How many NodePools it selects.
   */
  selectedNodePools?: number;
  /**
   * The first hundred of them by name.
   */
  nodePools?: QuotaOfNodePool[];
  total?: QuotaOfAll;
}

/**
 * What one NodePool asks for and gets.
 */
export interface QuotaOfNodePool {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its own limits; what is absent has none.
   */
  requested?: Amounts;
  /**
   * The limits that hold: the smallest of its own and of every ceiling that is enforced.
   */
  effective?: Amounts;
  /**
   * What its machines have or are promised.
   */
  use?: Amounts;
  /**
   * The capacity that its node class states; a percentage is of the machine.
   */
  machineRequested?: Amounts;
  /**
   * The most that a new machine may offer, where it is held to something.
   */
  machineEffective?: Amounts;
}

/**
 * What all selected machines have together.
 */
export interface QuotaOfAll {
  /**
   * The ceilings.
   */
  effective?: Amounts;
  /**
   * What the machines have or are promised.
   */
  use?: Amounts;
}

/**
 * Quantities by name.
 */
export type Amounts = Record<string, string>;
