/** A whole policy for tests and the reference page, with one thing changed at a time. */
import { group } from '../names.ts';
import type { UnikraftQuotaPolicy, UnikraftQuotaPolicySpec } from './types.ts';

export function quotaPolicy(
  changes: Partial<UnikraftQuotaPolicySpec> = {},
  name = 'team-shop',
): UnikraftQuotaPolicy {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: 'UnikraftQuotaPolicy',
    metadata: { name },
    spec: {
      selector: { nodePools: { matchLabels: { team: 'shop' } } },
      enforcement: 'Cap',
      ceilings: {
        perMachine: { vcpus: 32, memory: '128Gi' },
        perNodePool: { cpu: 256, nodes: 20 },
        total: { cpu: 512, memory: '2Ti', nodes: 30 },
      },
      ...changes,
    },
  };
}
