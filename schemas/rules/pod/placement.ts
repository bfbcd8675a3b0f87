import { labels } from '../../names.ts';
import type { Rule } from '../rule.ts';
import { pod, requirement } from '../samples.ts';
import { leavesOneOf, listOf, oneLine } from '../text.ts';
import { onPods } from './shared.ts';

const virtual = `'${labels.virtualKubelet}' in self && self['${labels.virtualKubelet}'] == 'true'`;

function isOneOf(key: string, values: readonly string[]): string {
  return `(!('${key}' in self) || self['${key}'] in ${listOf(values)})`;
}

const pairs = [
  [labels.os, ['linux']],
  [labels.arch, ['amd64', 'arm64']],
] as const;

function required(...terms: object[][]): Record<string, unknown> {
  return {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
        },
      },
    },
  };
}

/** Where a Pod wants to run. */
export const placementRules: readonly Rule[] = [
  {
    ...onPods,
    name: 'pod-selector-can-be-met',
    code: 'KPU140',
    severity: 'deny',
    path: 'spec.nodeSelector',
    cel: `!(${virtual}) || (${pairs.map(([key, values]) => isOneOf(key, values)).join(' && ')})`,
    message: 'Nodes of Kraftlet are Linux on amd64 or arm64, so none can ever match this selector.',
    fix: `Correct kubernetes.io/os or kubernetes.io/arch, or remove ${labels.virtualKubelet}.`,
    docs: 'All of a selector has to match one Node.',
    accepts: [
      pod(),
      pod({ nodeSelector: { [labels.os]: 'linux', [labels.arch]: 'arm64' } }),
      pod({ nodeSelector: { [labels.virtualKubelet]: 'false', [labels.os]: 'windows' } }),
    ],
    rejects: [
      pod({ nodeSelector: { [labels.os]: 'windows' } }),
      pod({ nodeSelector: { [labels.arch]: 'x86_64' } }),
    ],
  },
  {
    ...onPods,
    name: 'pod-selects-on-demand',
    code: 'KPU141',
    path: 'spec.nodeSelector',
    cel: `!('${labels.capacityType}' in self) || self['${labels.capacityType}'] == 'on-demand'`,
    message: 'Unikraft machines launch on demand only, so no machine is made for this Pod.',
    fix: 'Set karpenter.sh/capacity-type to on-demand, or remove it.',
    docs: 'It is let through: a Node that somebody else set up may bear the label.',
    accepts: [pod(), pod({ nodeSelector: { [labels.capacityType]: 'on-demand' } })],
    rejects: [pod({ nodeSelector: { [labels.capacityType]: 'spot' } })],
  },
  {
    ...onPods,
    name: 'pod-affinity-leaves-on-demand',
    code: 'KPU141',
    path: 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms',
    cel: oneLine(`self.exists(t, !has(t.matchExpressions) || t.matchExpressions.all(e,
      e.key != '${labels.capacityType}' || ${leavesOneOf(['on-demand'], 'e')}))`),
    message: 'Unikraft machines launch on demand only, so no machine is made for this Pod.',
    fix: 'Let one of the terms allow karpenter.sh/capacity-type on-demand.',
    docs: 'One of the terms has to match, and all expressions of it.',
    accepts: [
      pod(required([requirement(labels.capacityType, 'In', 'spot', 'on-demand')])),
      pod(
        required(
          [requirement(labels.capacityType, 'In', 'spot')],
          [requirement(labels.zone, 'In', 'eu-central-1a')],
        ),
      ),
    ],
    rejects: [
      pod(required([requirement(labels.capacityType, 'In', 'spot')])),
      pod(required([requirement(labels.capacityType, 'NotIn', 'on-demand')])),
    ],
  },
  {
    ...onPods,
    name: 'pod-needs-nothing-of-a-host',
    code: 'KPU153',
    path: 'spec',
    cel: ['hostNetwork', 'hostPID', 'hostIPC']
      .map((name) => `(!has(self.${name}) || !self.${name})`)
      .join(' && '),
    message:
      'A Unikraft instance is a machine of its own: there is no network or process of a host to share.',
    fix: 'Remove hostNetwork, hostPID and hostIPC.',
    docs: 'The webhook leaves such Pods alone when they ask to be made fit for Unikraft nodes.',
    accepts: [pod(), pod({ hostNetwork: false })],
    rejects: [pod({ hostNetwork: true }), pod({ hostPID: true })],
  },
  {
    ...onPods,
    name: 'pod-does-not-count-on-dns-config',
    code: 'KPU154',
    path: 'spec.dnsConfig',
    cel: '!has(self.nameservers) && !has(self.searches) && !has(self.options)',
    message: 'Unikraft instances do not get what dnsConfig says.',
    fix: 'Use full names, and set name servers in the image.',
    docs: 'Seen on machines in the field.',
    accepts: [pod(), pod({ dnsConfig: {} })],
    rejects: [pod({ dnsConfig: { searches: ['example.com'] } })],
  },
  {
    ...onPods,
    name: 'pod-has-an-owner',
    code: 'KPU148',
    path: 'metadata',
    cel: 'has(self.ownerReferences) && self.ownerReferences.exists(o, has(o.controller) && o.controller)',
    message:
      'Nothing makes this Pod anew: once its machine goes or its quota is used up, it stays Failed.',
    fix: 'Let a Deployment, StatefulSet or Job make it.',
    docs: 'Kraftlet ends a Pod when an instance cannot resume, and deletes it only if something makes it anew.',
    accepts: [pod()],
    rejects: [
      pod({}, { ownerReferences: [] }),
      pod({}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] }),
    ],
  },
];
