import { nodePools } from '../../karpenter/types.ts';
import { annotations, labels } from '../../names.ts';
import type { Rule } from '../rule.ts';
import { pool, requirement } from '../samples.ts';
import { listOf, oneLine } from '../text.ts';

const onPools = {
  target: nodePools,
  operations: ['CREATE', 'UPDATE'],
} as const satisfies Partial<Rule>;

/** What only the operator, Karpenter or the Node itself can know. */
const own = [
  labels.hostname,
  labels.nodeClass,
  labels.claimUid,
  labels.inject,
  annotations.revision,
];

function isFree(key: string): string {
  return oneLine(`(${key} == '${labels.capacityType}' || (
    !(${key} in ${listOf(own)}) && !${key}.matches('^([^/]*[.])?karpenter[.]sh/')))`);
}

const banned = {
  ...onPools,
  code: 'KPU106',
  severity: 'deny',
  message: 'A label that the operator, Karpenter or the Node sets itself cannot be chosen.',
  fix: `Use a label of your own domain; of karpenter.sh only ${labels.capacityType} may be said.`,
  docs: 'The CRD of NodePools bans karpenter.sh and the host name too, but which bans it has depends on the release and on whose chart installed it.',
} as const satisfies Partial<Rule>;

const tracking =
  "!self.exists(k, k == 'app.kubernetes.io/instance' || k.startsWith('argocd.argoproj.io/') || k.startsWith('kustomize.toolkit.fluxcd.io/') || k.startsWith('helm.toolkit.fluxcd.io/'))";

function annotated(given: Record<string, string>): ReturnType<typeof pool> {
  const sample = pool([]);
  sample.spec.template.metadata = { annotations: given };
  return sample;
}

/** What a pool's template may write on its machines. */
export const poolLabelRules: readonly Rule[] = [
  {
    ...banned,
    name: 'pool-label-is-free',
    path: 'spec.template.metadata.labels',
    cel: `self.all(k, ${isFree('k')})`,
    accepts: [
      pool([], { team: 'a', 'example.com/karpenter.sh': 'b', constructor: 'c' }),
      pool([], { [labels.instanceFamily]: 'm8i' }),
      pool([], { [labels.capacityType]: 'on-demand' }),
    ],
    rejects: [
      pool([], { 'karpenter.sh/nodepool': 'other' }),
      pool([], { 'apps.karpenter.sh/x': 'a' }),
      pool([], { [labels.hostname]: 'a' }),
      pool([], { [labels.nodeClass]: 'other' }),
    ],
  },
  {
    ...banned,
    name: 'pool-requirement-is-on-a-free-label',
    path: 'spec.template.spec.requirements[]',
    cel: isFree('self.key'),
    accepts: [pool([requirement('example.com/karpenter.sh', 'Exists')])],
    rejects: [
      pool([requirement('karpenter.sh/nodepool', 'In', 'other')]),
      pool([requirement(labels.hostname, 'Exists')]),
      pool([requirement(labels.claimUid, 'Exists')]),
    ],
  },
  {
    ...onPools,
    name: 'pool-labels-agree-with-requirements',
    code: 'KPU105',
    severity: 'deny',
    path: 'spec.template',
    cel: oneLine(`!has(self.metadata) || !has(self.metadata.labels) || self.metadata.labels.all(k,
      self.spec.requirements.all(r, r.key != k || (
        r.operator == 'In' ? !has(r.values) || self.metadata.labels[k] in r.values :
        r.operator == 'NotIn' ? !has(r.values) || !(self.metadata.labels[k] in r.values) :
        r.operator != 'DoesNotExist')))`),
    message:
      'A label of the template and a requirement leave no value, so nothing would ever be launched.',
    fix: 'Remove one of them, or let the requirement allow the value of the label.',
    docs: 'Labels of the template are requirements as well.',
    accepts: [
      pool([requirement('team', 'In', 'a', 'b')], { team: 'a' }),
      pool([requirement('team', 'Exists'), requirement('size', 'DoesNotExist')], { team: 'a' }),
    ],
    rejects: [
      pool([requirement('team', 'In', 'b')], { team: 'a' }),
      pool([requirement('team', 'NotIn', 'a')], { size: 'x', team: 'a' }),
      pool([requirement('team', 'DoesNotExist')], { team: 'a' }),
    ],
  },
  ...(['labels', 'annotations'] as const).map((field): Rule => ({
    ...onPools,
    name: `pool-template-bears-no-tracking-${field}`,
    code: 'KPU135',
    severity: 'warn',
    path: `spec.template.metadata.${field}`,
    cel: tracking,
    message:
      'Marks of Argo CD or Flux on machines make these tools take them for their own, and prune them.',
    fix: 'Keep such marks on the NodePool itself; common labels should not reach spec.template.',
    docs: 'A tool that finds its mark on an object that is not in Git removes it, and with it the machine.',
    accepts: [pool([], { team: 'a', 'app.kubernetes.io/name': 'b' }), annotated({ note: 'a' })],
    rejects:
      field === 'labels'
        ? [pool([], { 'app.kubernetes.io/instance': 'a' })]
        : [
            annotated({ 'argocd.argoproj.io/tracking-id': 'a' }),
            annotated({ 'kustomize.toolkit.fluxcd.io/name': 'a' }),
          ],
  })),
  {
    ...onPools,
    name: 'pool-template-lets-machines-go',
    code: 'KPU136',
    severity: 'warn',
    path: 'spec.template.metadata.annotations',
    cel: `!('${annotations.doNotDisrupt}' in self) || self['${annotations.doNotDisrupt}'] != 'true'`,
    message: 'No machine of this pool would ever be taken away or replaced, whatever changes.',
    fix: `Put ${annotations.doNotDisrupt} on single Pods or Nodes, or use budgets with a schedule.`,
    docs: 'From the template the annotation comes onto every machine. Only expiry still ends them.',
    accepts: [annotated({ [annotations.doNotDisrupt]: 'false' }), annotated({ note: 'a' })],
    rejects: [annotated({ [annotations.doNotDisrupt]: 'true' })],
  },
];
