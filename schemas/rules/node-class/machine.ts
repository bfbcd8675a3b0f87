import { unikraftNodeClasses } from '../../nodeclass/types.ts';
import type { BlockDevice, ImageSelectorTerm } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { awsClass, nodeClass } from '../samples.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
} as const satisfies Partial<Rule>;

const disk = (changes: Partial<BlockDevice> = {}): ReturnType<typeof awsClass> =>
  awsClass({ blockDevices: [{ volumeSize: '100Gi', ...changes }] });

const select = (term: ImageSelectorTerm): ReturnType<typeof nodeClass> =>
  nodeClass({ image: { selectorTerms: [term] } });

/** What a machine is made of: its volumes and its image. */
export const machineRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-volume-is-of-a-kind-with-iops',
    code: 'KPU117',
    path: 'spec.aws.blockDevices[]',
    cel: "!has(self.iops) || !has(self.volumeType) || self.volumeType in ['gp3', 'io1', 'io2']",
    message:
      'Volumes of this type have no provisioned operations, so EC2 would refuse every launch.',
    fix: 'Remove iops, or set volumeType to gp3, io1 or io2.',
    docs: 'A volume without a type is gp3.',
    accepts: [disk({ iops: 3000 }), disk({ volumeType: 'io2', iops: 64_000 }), disk()],
    rejects: [disk({ volumeType: 'st1', iops: 500 }), disk({ volumeType: 'gp2', iops: 3000 })],
  },
  {
    ...shared,
    name: 'node-class-volume-says-its-iops',
    code: 'KPU117',
    path: 'spec.aws.blockDevices[]',
    cel: "!has(self.volumeType) || !(self.volumeType in ['io1', 'io2']) || has(self.iops)",
    message: 'Volumes of type io1 and io2 need iops, so EC2 would refuse every launch.',
    fix: 'Set iops, or use gp3.',
    docs: 'Their operations are what is paid for.',
    accepts: [disk({ volumeType: 'io1', iops: 1000 }), disk({ volumeType: 'gp3' })],
    rejects: [disk({ volumeType: 'io1' }), disk({ volumeType: 'io2' })],
  },
  {
    ...shared,
    name: 'node-class-volume-is-of-a-kind-with-throughput',
    code: 'KPU117',
    path: 'spec.aws.blockDevices[]',
    cel: "!has(self.throughput) || !has(self.volumeType) || self.volumeType == 'gp3'",
    message: 'Only gp3 volumes have a provisioned throughput, so EC2 would refuse every launch.',
    fix: 'Remove throughput, or use gp3.',
    docs: 'Other types have the throughput of their size.',
    accepts: [disk({ throughput: 250 }), disk({ volumeType: 'gp3', throughput: 250 })],
    rejects: [disk({ volumeType: 'io2', iops: 1000, throughput: 250 })],
  },
  {
    ...shared,
    name: 'node-class-volume-with-a-key-is-encrypted',
    code: 'KPU117',
    path: 'spec.aws.blockDevices[]',
    cel: '!has(self.kmsKeyID) || !has(self.encrypted) || self.encrypted',
    message: 'A key is named for a volume that is not encrypted, so EC2 would refuse every launch.',
    fix: 'Remove kmsKeyID, or encrypted: false.',
    docs: 'Volumes are encrypted unless they say otherwise.',
    accepts: [disk({ kmsKeyID: 'alias/machines' }), disk({ encrypted: false })],
    rejects: [disk({ kmsKeyID: 'alias/machines', encrypted: false })],
  },
  {
    ...shared,
    name: 'node-class-volumes-have-devices-of-their-own',
    code: 'KPU117',
    path: 'spec.aws.blockDevices',
    cel: 'self.all(a, self.exists_one(b, has(a.deviceName) ? has(b.deviceName) && b.deviceName == a.deviceName : !has(b.deviceName)))',
    message: 'Two volumes are for one device, so EC2 would refuse every launch.',
    fix: 'Give each volume a deviceName of its own; one without is the root device.',
    docs: 'A volume without deviceName replaces that of the image.',
    accepts: [
      awsClass({
        blockDevices: [{ volumeSize: '20Gi' }, { deviceName: '/dev/xvdb', volumeSize: '1Ti' }],
      }),
    ],
    rejects: [
      awsClass({ blockDevices: [{ volumeSize: '20Gi' }, { volumeSize: '1Ti' }] }),
      awsClass({
        blockDevices: [
          { deviceName: '/dev/xvdb', volumeSize: '20Gi' },
          { deviceName: '/dev/xvdb', volumeSize: '1Ti' },
        ],
      }),
    ],
  },
  {
    ...shared,
    name: 'node-class-image-has-an-owner',
    code: 'KPU120',
    severity: 'warn',
    path: 'spec.image.selectorTerms[]',
    cel: 'has(self.owner) || has(self.id) || has(self.ssmParameter)',
    message:
      'Without an owner anybody can publish a newer image that matches, and machines would start from it.',
    fix: 'Set owner to the account that publishes the image, or to self.',
    docs: 'The newest image that fits is taken, and anyone may share an image under any name.',
    accepts: [
      select({ name: 'unikraft-*', owner: 'self' }),
      select({ id: 'ami-0abc' }),
      select({ ssmParameter: '/images/platform' }),
    ],
    rejects: [select({ name: 'unikraft-platform-*' }), select({ tags: { release: 'stable' } })],
  },
];
