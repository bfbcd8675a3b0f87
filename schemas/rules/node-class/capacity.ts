import { defaultInstances } from '../../instances/capacity.ts';
import { unikraftNodeClasses } from '../../nodeclass/types.ts';
import type { PlatformSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { nodeClass } from '../samples.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'warn',
} as const satisfies Partial<Rule>;

const offering = (capacity: PlatformSpec['capacity']): ReturnType<typeof nodeClass> =>
  nodeClass({ platform: { ...(capacity && { capacity }) } });

/** What Nodes of the class offer. */
export const capacityRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-offers-memory',
    code: 'KPU118',
    severity: 'deny',
    path: 'spec.platform.capacity.memory',
    cel: "self.endsWith('%') || !quantity(self).isLessThan(quantity('1Mi'))",
    message: 'Nodes would offer no memory, so no size of machine would fit and none would be made.',
    fix: 'Set at least 1Mi, or a percentage of the machine.',
    docs: 'Quotas of the platform are whole MiB, rounded down.',
    accepts: [offering({ memory: '1Gi' }), offering({ memory: '100%' }), offering({})],
    rejects: [
      offering({ memory: '0' }),
      offering({ memory: '512Ki' }),
      offering({ memory: '0.5M' }),
    ],
  },
  {
    ...shared,
    name: 'node-class-promises-the-memory-it-has',
    code: 'KPU121',
    path: 'spec.platform.capacity.memory',
    cel: "!self.matches('^([2-9][0-9][0-9]|1[1-9][0-9]|10[1-9]|[1-9][0-9][0-9][0-9])%$')",
    message:
      'Nodes would promise more memory than their machines have; when Pods use it, instances cannot start or resume.',
    fix: 'Use at most 100%, and overcommit vCPUs instead.',
    docs: 'Time of vCPUs is shared; memory is not.',
    accepts: [
      offering({ memory: '100%' }),
      offering({ memory: '99%' }),
      offering({ memory: '999Gi' }),
    ],
    rejects: [
      offering({ memory: '101%' }),
      offering({ memory: '200%' }),
      offering({ memory: '1000%' }),
    ],
  },
  {
    ...shared,
    name: 'node-class-has-a-network-for-each-instance',
    code: 'KPU122',
    path: 'spec.platform.capacity.instances',
    cel: `self <= ${defaultInstances}`,
    message: `The platform makes ${defaultInstances} networks unless it is told otherwise, and an instance without one does not start.`,
    fix: `Keep instances at ${defaultInstances}, or have the image or spec.platform.config make more networks.`,
    docs: 'Each instance takes one network of the machine.',
    accepts: [offering({ instances: 200 }), offering({ instances: 1000 })],
    rejects: [offering({ instances: 1001 }), offering({ instances: 5000 })],
  },
];
