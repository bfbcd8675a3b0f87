import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { gcpClass, nodeClass } from '../samples.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
} as const satisfies Partial<Rule>;

const emptyTerm = {
  ...shared,
  code: 'KPU112',
  cel: 'has(self.id) || has(self.name) || has(self.tags)',
  message: 'This term selects nothing in particular, so it would select everything.',
  fix: 'Give it id, name or tags.',
  docs: 'A term without a condition is a forgotten one far more often than a wish for all there is.',
} as const satisfies Partial<Rule>;

const valid = nodeClass().spec;
const aws = valid.aws ?? { region: '', subnetSelectorTerms: [], securityGroupSelectorTerms: [] };

function kraftlet(
  changes: Partial<UnikraftNodeClassSpec['kraftlet']>,
): Partial<UnikraftNodeClassSpec> {
  return { kraftlet: { chart: '/charts/kraftlet', ...changes } };
}

function named(nameTemplate: string): Partial<UnikraftNodeClassSpec> {
  return { dns: { ...valid.dns, nameTemplate } };
}

const { aws: _, ...withoutCloud } = valid;

/** What one field of a node class cannot say alone. The CRD carries them, so they hold without any webhook. */
export const nodeClassShapeRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-has-one-cloud',
    code: 'KPU110',
    path: 'spec',
    cel: 'has(self.aws) != has(self.gcp)',
    message: 'The node class names no cloud, or two, so where to make a machine is not said.',
    fix: 'Set either spec.aws or spec.gcp.',
    docs: 'A node class is for exactly one cloud; a pool for each cloud has a class for each.',
    accepts: [nodeClass(), gcpClass()],
    rejects: [
      { ...nodeClass(), spec: withoutCloud } as Rule['rejects'][number],
      nodeClass({ gcp: gcpClass().spec.gcp! }),
    ],
  },
  {
    ...shared,
    name: 'node-class-has-one-image',
    code: 'KPU111',
    path: 'spec.image',
    cel: 'has(self.id) != has(self.selectorTerms)',
    message: 'The image is given by id and by selection, or not at all.',
    fix: 'Set either id or selectorTerms.',
    docs: 'With both, which of them holds would be a guess.',
    accepts: [nodeClass(), nodeClass({ image: { id: 'ami-0abc' } })],
    rejects: [
      nodeClass({ image: {} }),
      nodeClass({ image: { id: 'ami-0abc', selectorTerms: [{ name: 'x' }] } }),
    ],
  },
  {
    ...shared,
    name: 'node-class-image-term-has-one-id',
    code: 'KPU111',
    path: 'spec.image.selectorTerms[]',
    cel: '!has(self.id) || !has(self.ssmParameter)',
    message: 'An image is given by id and by a parameter that holds an id.',
    fix: 'Set either id or ssmParameter.',
    docs: 'With both, which of them holds would be a guess.',
    accepts: [
      nodeClass({ image: { selectorTerms: [{ ssmParameter: '/images/platform:stable' }] } }),
    ],
    rejects: [
      nodeClass({
        image: { selectorTerms: [{ id: 'ami-0abc', ssmParameter: '/images/platform' }] },
      }),
    ],
  },
  {
    ...emptyTerm,
    name: 'node-class-image-term-selects',
    path: 'spec.image.selectorTerms[]',
    cel: 'has(self.id) || has(self.name) || has(self.tags) || has(self.family) || has(self.ssmParameter)',
    fix: 'Give it id, name, tags, family or ssmParameter.',
    accepts: [
      nodeClass(),
      gcpClass(),
      nodeClass({ image: { selectorTerms: [{ ssmParameter: '/images/platform' }] } }),
    ],
    rejects: [nodeClass({ image: { selectorTerms: [{ name: 'x' }, { owner: 'self' }] } })],
  },
  {
    ...emptyTerm,
    name: 'node-class-subnet-term-selects',
    path: 'spec.aws.subnetSelectorTerms[]',
    accepts: [nodeClass({ aws: { ...aws, subnetSelectorTerms: [{ id: 'subnet-0abc' }] } })],
    rejects: [nodeClass({ aws: { ...aws, subnetSelectorTerms: [{}] } })],
  },
  {
    ...emptyTerm,
    name: 'node-class-security-group-term-selects',
    path: 'spec.aws.securityGroupSelectorTerms[]',
    accepts: [nodeClass({ aws: { ...aws, securityGroupSelectorTerms: [{ id: 'sg-0abc' }] } })],
    rejects: [nodeClass({ aws: { ...aws, securityGroupSelectorTerms: [{ name: 'x' }, {}] } })],
  },
  {
    ...shared,
    name: 'node-class-names-are-its-own',
    code: 'KPU113',
    path: 'spec.dns.nameTemplate',
    cel: "self.contains('{{node}}') && self.endsWith('.{{zone}}')",
    message: 'Names of different machines would be the same, or lie outside of the zone.',
    fix: 'Use {{node}} in it and end it with .{{zone}}, as in api.{{node}}.{{zone}}.',
    docs: 'Each machine needs a name of its own in the zone that the operator writes to.',
    accepts: [nodeClass(), nodeClass(named('{{node}}.{{zone}}'))],
    rejects: [
      nodeClass(named('api.{{zone}}')),
      nodeClass(named('{{node}}.example.com')),
      nodeClass(named('{{node}}{{zone}}')),
    ],
  },
  {
    ...shared,
    name: 'node-class-chart-is-pinned',
    code: 'KPU114',
    path: 'spec.kraftlet',
    cel: "!self.chart.startsWith('oci://') || has(self.version)",
    message:
      'The chart comes from a registry without a version, so machines would differ by the day they were made.',
    fix: 'Set spec.kraftlet.version.',
    docs: 'A new Kraftlet is a change of the node class, which can be rolled out and taken back.',
    accepts: [nodeClass(), nodeClass(kraftlet({})), nodeClass(kraftlet({ version: '1.0.0' }))],
    rejects: [nodeClass(kraftlet({ chart: 'oci://registry.example.com/kraftlet' }))],
  },
  {
    ...shared,
    name: 'node-class-leaves-own-tags-alone',
    code: 'KPU115',
    path: 'spec.tags',
    cel: "self.all(key, !(key in ['Name', 'karpenter.sh/nodepool', 'karpenter.sh/nodeclaim']) && !key.startsWith('karpenter.unikraft.com/') && !key.startsWith('aws:'))",
    message: 'A tag has a name that the operator or the cloud uses itself.',
    fix: 'Choose other names than Name, karpenter.sh/nodepool, karpenter.sh/nodeclaim, karpenter.unikraft.com/* and aws:*.',
    docs: 'By these tags the operator knows its own instances again; another value would leave them running for ever.',
    accepts: [
      nodeClass({ tags: { team: 'a', 'karpenter.sh/discovery': 'demo', constructor: 'b' } }),
    ],
    rejects: [
      nodeClass({ tags: { Name: 'mine' } }),
      nodeClass({ tags: { team: 'a', 'karpenter.unikraft.com/cluster': 'other' } }),
      nodeClass({ tags: { 'aws:owner': 'me' } }),
    ],
  },
  {
    ...shared,
    name: 'node-class-has-storage-to-advertise',
    code: 'KPU116',
    path: 'spec.platform',
    cel: "!has(self.advertiseStorage) || !self.advertiseStorage || (has(self.capacity) && has(self.capacity.volumeStorage) && quantity(self.capacity.volumeStorage).isGreaterThan(quantity('0')))",
    message:
      'Nodes would offer ephemeral-storage of nothing, and Pods that ask for any would never fit.',
    fix: 'Set spec.platform.capacity.volumeStorage, or advertiseStorage to false.',
    docs: 'A class has no volume storage unless it says so, since only the maker of the image knows the disks.',
    accepts: [
      nodeClass({ platform: {} }),
      nodeClass({ platform: { advertiseStorage: true, capacity: { volumeStorage: '500Gi' } } }),
    ],
    rejects: [
      nodeClass({ platform: { advertiseStorage: true } }),
      nodeClass({ platform: { advertiseStorage: true, capacity: { volumeStorage: '0Gi' } } }),
    ],
  },
];
