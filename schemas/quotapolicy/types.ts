/**
 * UnikraftQuotaPolicy, karpenter.unikraft.com/v1alpha1: how much may be had.
 * unikraftquotapolicy.schema.yaml is the source of the fields, docs/reference/unikraftquotapolicy.md tells each.
 */
import type {
  UnikraftQuotaPolicySpec,
  UnikraftQuotaPolicyStatus,
} from '../generated/unikraftquotapolicy.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import { resource } from '../kubernetes/resource.ts';

export type {
  MachineCeilings,
  SumCeilings,
  UnikraftQuotaPolicySpec,
  UnikraftQuotaPolicyStatus,
} from '../generated/unikraftquotapolicy.ts';

export interface UnikraftQuotaPolicy extends KubeObject {
  spec: UnikraftQuotaPolicySpec;
  status?: UnikraftQuotaPolicyStatus;
}

export const unikraftQuotaPolicies = resource<UnikraftQuotaPolicy>(
  'karpenter.unikraft.com/v1alpha1',
  'UnikraftQuotaPolicy',
  'unikraftquotapolicies',
  'Cluster',
);
