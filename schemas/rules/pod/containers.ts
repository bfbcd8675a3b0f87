import { largest, largestMicroVm } from '../largest.ts';
import type { Rule } from '../rule.ts';
import { container, pod } from '../samples.ts';
import { oneLine } from '../text.ts';
import { onContainers, onPods } from './shared.ts';

type Sizes = Record<string, Record<string, string>>;

const sized = (resources: Sizes): ReturnType<typeof pod> =>
  pod({ containers: [container({ resources })] });
const inInit = (changes: Record<string, unknown>): ReturnType<typeof pod> =>
  pod({ initContainers: [container({ name: 'init', ...changes })] });
const inMain = (changes: Record<string, unknown>): ReturnType<typeof pod> =>
  pod({ containers: [container(changes)] });

/** A container's instance is as large as its limit, or else as its request. */
function atMost(resource: 'cpu' | 'memory', most: string): string {
  const within = (list: string): string =>
    `!quantity(string(self.resources.${list}.${resource})).isGreaterThan(quantity('${most}'))`;
  return oneLine(`!has(self.resources) || (${says('limits', resource)} ? ${within('limits')} :
    !(${says('requests', resource)}) || ${within('requests')})`);
}

function says(list: 'limits' | 'requests', resource: string): string {
  return `has(self.resources.${list}) && has(self.resources.${list}.${resource})`;
}

/** What Kraftlet makes of a container that says nothing. */
const unasked = { cpu: '1 vCPU', memory: '128 MiB' } as const;

function notFarAbove(resource: 'cpu' | 'memory'): string {
  const request = `quantity(string(self.resources.requests.${resource}))`;
  const fourTimes = `${request}.add(${request}).add(${request}).add(${request})`;
  return oneLine(`!has(self.resources) || !has(self.resources.limits) || !has(self.resources.requests)
    || !has(self.resources.limits.${resource}) || !has(self.resources.requests.${resource})
    || !quantity(string(self.resources.limits.${resource})).isGreaterThan(${fourTimes})`);
}

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** One container is one instance: what an instance cannot be or do. */
export const containerRules: readonly Rule[] = [
  {
    ...onPods,
    name: 'container-fits-some-machine',
    code: 'KPU142',
    severity: 'deny',
    path: 'spec.{containers,initContainers}[]',
    cel: `(${atMost('cpu', String(largest.vcpus))}) && (${atMost('memory', largest.memory)})`,
    message: 'One container is one instance on one machine, and no machine is this large.',
    fix: `Ask for less: the bounds are ${largest.vcpus} vCPUs and ${largest.memory} of memory, beyond what any cloud sells.`,
    docs: 'Limits count, or requests where there is none. A mistaken unit (Ti for Gi, 4000 for 4000m) is the usual reason.',
    accepts: [
      sized({ limits: { cpu: '4', memory: '8Gi' } }),
      sized({ requests: { cpu: '500m' } }),
      pod(),
    ],
    rejects: [
      sized({ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '5000', memory: '1Gi' } }),
      sized({ requests: { memory: '100Ti' } }),
      inInit({ resources: { limits: { memory: '1Pi' } } }),
    ],
  },
  {
    ...onPods,
    name: 'container-fits-a-microvm',
    code: 'KPU143',
    path: 'spec.{containers,initContainers}[]',
    cel: atMost('cpu', String(largestMicroVm.vcpus)),
    message: `One container is one instance, and a Firecracker microVM has at most ${largestMicroVm.vcpus} vCPUs.`,
    fix: 'Spread the work over several Pods.',
    docs: 'Platforms may allow less: the limits of an instance are in their quotas.',
    accepts: [sized({ limits: { cpu: '32' } }), pod()],
    rejects: [
      sized({ limits: { cpu: '33' } }),
      inInit({ resources: { requests: { cpu: '32001m' } } }),
    ],
  },
  ...(['cpu', 'memory'] as const).map((resource): Rule => ({
    ...onPods,
    name: `container-says-its-${resource}`,
    code: 'KPU158',
    path: 'spec.{containers,initContainers}[]',
    cel: `has(self.resources) && ((${says('requests', resource)}) || (${says('limits', resource)}))`,
    message: `Without a size the instance takes ${unasked[resource]}, and the scheduler counts nothing for it.`,
    fix: `Set resources.requests.${resource}.`,
    docs: 'A Node that looks empty takes such Pods without end, until its platform is at its quota and none of them starts.',
    accepts: [
      sized({ requests: { [resource]: '1' } }),
      sized({ limits: { [resource]: '1' } }),
      pod(),
    ],
    rejects: [inMain({ resources: {} }), sized({ requests: {} }), inInit({ resources: {} })],
  })),
  ...(['cpu', 'memory'] as const).map((resource): Rule => ({
    ...onPods,
    name: `container-asks-for-the-${resource}-it-uses`,
    code: 'KPU149',
    path: 'spec.{containers,initContainers}[]',
    cel: notFarAbove(resource),
    message: `The instance gets the ${resource} of its limit, while the scheduler counts the request, which is less than a quarter of it.`,
    fix: 'Raise the request towards the limit, so that Pods are not put where they cannot start.',
    docs: "A Node takes Pods by their requests, and its platform's quota pays for their limits.",
    accepts: [
      sized({ requests: { [resource]: '1' }, limits: { [resource]: '4' } }),
      sized({ limits: { [resource]: '4' } }),
    ],
    rejects: [
      sized({ requests: { [resource]: '100' }, limits: { [resource]: '401' } }),
      sized({ requests: { [resource]: '0' }, limits: { [resource]: '1' } }),
    ],
  })),
  {
    ...onContainers,
    name: 'container-does-not-count-on-probes',
    code: 'KPU144',
    cel: probes.map((probe) => `!has(self.${probe})`).join(' && '),
    message: 'Probes never run on Unikraft instances: nothing is restarted or held back by them.',
    fix: 'Remove them, and let the program end when it cannot go on.',
    docs: 'Kraftlet has no probes. A Pod counts as ready once its instance runs.',
    accepts: [pod()],
    rejects: [
      inMain({ livenessProbe: { tcpSocket: { port: 80 } } }),
      inMain({ readinessProbe: { httpGet: { port: 80 } } }),
      inInit({ restartPolicy: 'Always', startupProbe: { tcpSocket: { port: 80 } } }),
    ],
  },
  {
    ...onContainers,
    name: 'container-mounts-whole-volumes',
    code: 'KPU145',
    cel: '!has(self.volumeMounts) || self.volumeMounts.all(m, !has(m.subPath) && !has(m.subPathExpr))',
    message:
      'Kraftlet ignores subPath: the whole volume is mounted, and a single file becomes a folder.',
    fix: 'Mount the volume at a folder of its own.',
    docs: 'Seen with ConfigMaps that were to give one file.',
    accepts: [
      pod({
        volumes: [{ name: 'a', emptyDir: {} }],
        containers: [container({ volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
      }),
    ],
    rejects: [
      pod({
        volumes: [{ name: 'a', emptyDir: {} }],
        containers: [container({ volumeMounts: [{ name: 'a', mountPath: '/a', subPath: 'b' }] })],
      }),
    ],
  },
  {
    ...onContainers,
    name: 'container-reads-no-resource-fields',
    code: 'KPU151',
    cel: '!has(self.env) || self.env.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef))',
    message: 'Kraftlet does not support resourceFieldRef, so the variable has no value.',
    fix: 'Write the value, or read what the instance itself has.',
    docs: 'It does support fieldRef, ConfigMaps and Secrets.',
    accepts: [
      inMain({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ],
    rejects: [
      inMain({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] }),
      inInit({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] }),
    ],
  },
];
