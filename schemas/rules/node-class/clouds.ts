import { unikraftNodeClasses } from '../../nodeclass/types.ts';
import type { GcpDisk, UnikraftNodeClassSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { awsClass, gcpClass, nodeClass } from '../samples.ts';
import { oneLine } from '../text.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
} as const satisfies Partial<Rule>;

type Image = UnikraftNodeClassSpec['image'];

const path = 'projects/unikraft-images/global/images/unikraft-platform-1';
const inGcp = (image: Image): ReturnType<typeof nodeClass> => gcpClass({}, { image });
const role = 'arn:aws:iam::123456789012:role/machines';
const disk = (changes: Partial<GcpDisk>): ReturnType<typeof nodeClass> =>
  gcpClass({ disks: [{ size: '20Gi', ...changes }] });
const tagged = (tags: Record<string, string>): ReturnType<typeof nodeClass> =>
  gcpClass({}, { tags });
const named = (dns: Partial<UnikraftNodeClassSpec['dns']>): Partial<UnikraftNodeClassSpec> => ({
  dns: { provider: 'CloudDNS', zone: 'machines.example.com', ...dns },
});

/** What goes together within one cloud. */
export const cloudRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-image-is-of-its-cloud',
    code: 'KPU137',
    path: 'spec',
    cel: oneLine(`
      has(self.gcp)
        ? (!has(self.image.id) || self.image.id.startsWith('projects/')) && (!has(self.image.selectorTerms) ||
          self.image.selectorTerms.all(term, !has(term.ssmParameter) &&
            (!has(term.id) || term.id.startsWith('projects/'))))
        : (!has(self.image.id) || self.image.id.startsWith('ami-')) && (!has(self.image.selectorTerms) ||
          self.image.selectorTerms.all(term, !has(term.family) && (!has(term.id) || term.id.startsWith('ami-'))))`),
    message: 'The image is named as another cloud names images, so none would ever be found.',
    fix: 'In AWS use ids such as ami-0abc, names, tags or SSM parameters; in Google Cloud paths such as projects/<project>/global/images/<name>, families, names or tags.',
    docs: 'Families are a notion of Google Cloud, SSM parameters one of AWS.',
    accepts: [
      nodeClass({ image: { id: 'ami-0abc' } }),
      inGcp({ id: path }),
      inGcp({ selectorTerms: [{ id: path }, { family: 'unikraft-platform' }, { name: 'x' }] }),
    ],
    rejects: [
      nodeClass({ image: { id: path } }),
      nodeClass({ image: { selectorTerms: [{ family: 'unikraft-platform' }] } }),
      nodeClass({ image: { selectorTerms: [{ name: 'x' }, { id: path }] } }),
      inGcp({ id: 'ami-0abc' }),
      inGcp({ selectorTerms: [{ name: 'x' }, { id: 'ami-0abc' }] }),
      inGcp({ selectorTerms: [{ ssmParameter: '/images/platform' }] }),
    ],
  },
  {
    ...shared,
    name: 'node-class-external-id-is-for-a-role',
    code: 'KPU139',
    path: 'spec.aws',
    cel: '!has(self.assumeRoleExternalID) || has(self.assumeRoleARN)',
    message: 'An external id is given, and no role is assumed that could ask for it.',
    fix: 'Set spec.aws.assumeRoleARN, or remove assumeRoleExternalID.',
    docs: 'It would look as if it mattered.',
    accepts: [
      awsClass({ assumeRoleARN: role }),
      awsClass({ assumeRoleARN: role, assumeRoleExternalID: 'cluster-1' }),
    ],
    rejects: [awsClass({ assumeRoleExternalID: 'cluster-1' })],
  },
  {
    ...shared,
    name: 'node-class-dns-project-is-known',
    code: 'KPU139',
    path: 'spec',
    cel: "self.dns.provider != 'CloudDNS' || has(self.dns.project) || has(self.gcp)",
    message: 'Cloud DNS holds zones by project, and neither spec.dns nor spec.gcp names one.',
    fix: 'Set spec.dns.project.',
    docs: 'Machines of another cloud may have their names in Cloud DNS.',
    accepts: [nodeClass(named({ project: 'names-1234' })), gcpClass(), nodeClass()],
    rejects: [nodeClass(named({}))],
  },
  {
    ...shared,
    name: 'node-class-dns-project-is-for-cloud-dns',
    code: 'KPU139',
    path: 'spec.dns',
    cel: "self.provider == 'CloudDNS' || !has(self.project)",
    message: 'A project is named for a zone that is not in Cloud DNS.',
    fix: 'Remove spec.dns.project, or set provider to CloudDNS.',
    docs: 'It would look as if it mattered.',
    accepts: [gcpClass({}, named({ project: 'names-1234' })), nodeClass()],
    rejects: [
      nodeClass({
        dns: { provider: 'Route53', zone: 'machines.example.com', project: 'names-1234' },
      }),
    ],
  },
  {
    ...shared,
    name: 'node-class-zones-are-of-its-region',
    code: 'KPU139',
    path: 'spec.gcp',
    cel: "!has(self.zones) || self.zones.all(zone, zone.startsWith(self.region + '-'))",
    message: 'A zone is not of the region, so nothing could be made there.',
    fix: 'Name zones of spec.gcp.region, or another region.',
    docs: 'A node class has one region.',
    accepts: [gcpClass(), gcpClass({ zones: ['europe-west1-b', 'europe-west1-c'] })],
    rejects: [
      gcpClass({ zones: ['europe-west1-b', 'europe-west4-a'] }),
      gcpClass({ region: 'europe-west1', zones: ['europe-west10-a'] }),
    ],
  },
  {
    ...shared,
    name: 'node-class-tags-are-labels-in-google-cloud',
    code: 'KPU139',
    path: 'spec',
    cel: oneLine(`
      !has(self.gcp) || !has(self.tags) || self.tags.all(key, size(key) < 64
        && key.matches('^[a-z][a-z0-9_-]*$') && !key.startsWith('karpenter-')
        && size(self.tags[key]) < 64 && self.tags[key].matches('^[a-z0-9_-]*$'))`),
    message: 'Tags are labels in Google Cloud, which would refuse these with every launch.',
    fix: 'Use lower case letters, digits, _ and - in keys and values, 63 at most, keys that begin with a letter and not with karpenter-.',
    docs: 'Keys that begin with karpenter- are those by which the operator knows its own instances again.',
    accepts: [
      tagged({ team: 'a', cost_centre: '12-34', x: '' }),
      nodeClass({ tags: { Team: 'A' } }),
    ],
    rejects: [
      tagged({ Team: 'a' }),
      tagged({ team: 'A' }),
      tagged({ team: 'x'.repeat(64) }),
      tagged({ 'karpenter-sh-nodepool': 'mine' }),
    ],
  },
  {
    ...shared,
    name: 'node-class-disk-is-of-a-kind-with-iops',
    code: 'KPU117',
    path: 'spec.gcp.disks[]',
    cel: "!has(self.iops) || (has(self.type) && self.type in ['hyperdisk-balanced', 'hyperdisk-extreme'])",
    message: 'Disks of this kind have no provisioned operations, so every launch would be refused.',
    fix: 'Remove iops, or set type to hyperdisk-balanced or hyperdisk-extreme.',
    docs: 'A disk without a kind is of the usual one of its size of machine.',
    accepts: [disk({}), disk({ type: 'hyperdisk-extreme', iops: 10_000 })],
    rejects: [disk({ iops: 3000 }), disk({ type: 'pd-ssd', iops: 3000 })],
  },
  {
    ...shared,
    name: 'node-class-disk-is-of-a-kind-with-throughput',
    code: 'KPU117',
    path: 'spec.gcp.disks[]',
    cel: "!has(self.throughput) || (has(self.type) && self.type in ['hyperdisk-balanced', 'hyperdisk-throughput'])",
    message: 'Disks of this kind have no provisioned throughput, so every launch would be refused.',
    fix: 'Remove throughput, or set type to hyperdisk-balanced or hyperdisk-throughput.',
    docs: 'Other kinds have the throughput of their size.',
    accepts: [disk({ type: 'hyperdisk-balanced', throughput: 290 })],
    rejects: [disk({ throughput: 290 }), disk({ type: 'hyperdisk-extreme', throughput: 290 })],
  },
];
