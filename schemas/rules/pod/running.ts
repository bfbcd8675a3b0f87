import type { Rule } from '../rule.ts';
import { container, pod } from '../samples.ts';
import { oneLine } from '../text.ts';
import { onPods } from './shared.ts';

const policy = 'cloud.unikraft.v1.instances/scale_to_zero.policy';
const stateful = 'cloud.unikraft.v1.instances/scale_to_zero.stateful';
const cooldown = 'cloud.unikraft.v1.instances/scale_to_zero.cooldown_time_ms';

const all = '(self.containers + (has(self.initContainers) ? self.initContainers : []))';

const annotated = (annotations: Record<string, string>): ReturnType<typeof pod> =>
  pod({}, { annotations });
const listening = (...ports: number[]): ReturnType<typeof container> =>
  container({
    name: `on-${ports.join('-')}`,
    ports: ports.map((containerPort) => ({ containerPort })),
  });

/** How a Pod is reached, sleeps and is changed while it runs. */
export const runningRules: readonly Rule[] = [
  {
    ...onPods,
    name: 'pod-with-ports-has-a-service',
    code: 'KPU150',
    path: 'spec',
    cel: oneLine(`!${all}.exists(c, has(c.ports) && size(c.ports) > 1)
      && size(${all}.filter(c, has(c.ports) && size(c.ports) > 0)) < 2`),
    message: 'With several ports the Pod fails unless exactly one Service selects it.',
    fix: 'Make sure that the Service is there before the Pod, or leave one port.',
    docs: 'With one port and no Service Kraftlet makes one on 443. What Services there are cannot be seen here.',
    accepts: [pod(), pod({ containers: [listening(8080)] })],
    rejects: [
      pod({ containers: [listening(8080, 9090)] }),
      pod({ containers: [listening(8080), listening(9090)] }),
      pod({
        containers: [listening(8080)],
        initContainers: [{ ...listening(1), restartPolicy: 'Always' }],
      }),
    ],
  },
  {
    ...onPods,
    name: 'pod-scales-to-zero-as-it-says',
    code: 'KPU152',
    path: 'metadata.annotations',
    cel: oneLine(`(!('${policy}' in self) || self['${policy}'] in ['on', 'off', 'idle'])
      && (!('${stateful}' in self) || self['${stateful}'] in ['true', 'false'])
      && (!('${cooldown}' in self) || self['${cooldown}'].matches('^[0-9]+$'))
      && self.all(k, !k.startsWith('cloud.unikraft.v1.instances/scale_to_zero')
        || k in ['${policy}', '${stateful}', '${cooldown}'])`),
    message:
      'Kraftlet does not know this setting of scale to zero, so the instance sleeps by the default.',
    fix: 'Use scale_to_zero.policy on, off or idle, .stateful true or false, .cooldown_time_ms a number.',
    docs: 'Instances behind a Service scale to zero by default, after one second.',
    accepts: [
      annotated({ [policy]: 'idle', [stateful]: 'true', [cooldown]: '5000' }),
      annotated({ note: 'on', constructor: 'x' }),
    ],
    rejects: [
      annotated({ [policy]: 'never' }),
      annotated({ [stateful]: 'yes' }),
      annotated({ [cooldown]: '5s' }),
      annotated({ 'cloud.unikraft.v1.instances/scale_to_zero.cooldown': '5000' }),
      annotated({ 'cloud.unikraft.v1.instances/scale_to_zero': 'on' }),
    ],
  },
  {
    ...onPods,
    name: 'pod-is-debugged-from-outside',
    code: 'KPU156',
    operations: ['UPDATE'],
    resources: ['pods/ephemeralcontainers'],
    path: 'spec.ephemeralContainers',
    cel: 'size(self) == 0',
    message:
      'Ephemeral containers never start on Unikraft nodes: instances are fixed once they are made.',
    fix: 'Read the logs, or start a copy of the Pod on another node.',
    docs: 'Kraftlet has no exec, no attach and no change in place.',
    before: pod(),
    accepts: [pod({ ephemeralContainers: [] })],
    rejects: [
      pod({
        ephemeralContainers: [{ name: 'debugger', image: 'registry.example.com/debugger:1' }],
      }),
    ],
  },
  {
    ...onPods,
    name: 'pod-is-resized-by-a-new-one',
    code: 'KPU157',
    operations: ['UPDATE'],
    resources: ['pods/resize'],
    path: 'spec',
    cel: 'self.containers == oldSelf.containers',
    message:
      'Instances are not resized in place, so this changes what is counted and not what runs.',
    fix: "Change the Pod's template, so that a new Pod takes its place.",
    docs: 'An instance has the size that it was made with.',
    before: pod(),
    accepts: [pod()],
    rejects: [pod({ containers: [container({ resources: { requests: { cpu: '2' } } })] })],
  },
];
