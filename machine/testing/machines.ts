import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { Candidate, MachineIdentity } from '../machine.ts';

/** Whose machine the tests of this room make. */
export const identity: MachineIdentity = {
  name: 'web-3f2a91c0',
  claim: 'web-x7k2p',
  claimUid: '3f2a91c0-0000-4000-8000-000000000001',
  nodePool: 'web',
  nodeClass: 'default',
  clusterUid: 'c1u5-0000',
};

export const candidate: Candidate = {
  attempt: 1,
  instanceType: 'm8i.large',
  zone: 'eu-central-1a',
  subnet: 'subnet-a',
  metal: false,
};

export const spec: UnikraftNodeClassSpec = {
  aws: {
    region: 'eu-central-1',
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
    securityGroupSelectorTerms: [{ name: 'machines' }],
  },
  image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] },
  dns: { provider: 'Route53', zone: 'machines.example.com' },
  certificate: { api: { mode: 'PrivateCA' } },
  kraftlet: { chart: 'oci://registry.example.com/charts/kraftlet', version: '0.6.0' },
};

/** The class as resolved; `aws` and `rest` replace parts of its spec. */
export function nodeClass(
  aws: Partial<NonNullable<UnikraftNodeClassSpec['aws']>> = {},
  rest: Partial<UnikraftNodeClassSpec> = {},
): ResolvedNodeClass {
  return {
    nodeClass: 'default',
    spec: { ...spec, ...rest, aws: { ...spec.aws!, ...aws } },
    image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
    subnets: [
      { id: 'subnet-a', zone: 'eu-central-1a', zoneID: 'euc1-az2' },
      { id: 'subnet-b', zone: 'eu-central-1b', zoneID: 'euc1-az3' },
    ],
    securityGroups: ['sg-1'],
    dnsZoneID: 'Z1',
  };
}
