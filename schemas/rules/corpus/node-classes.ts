import fc from 'fast-check';

import type {
  AwsSpec,
  BlockDevice,
  GcpDisk,
  GcpSpec,
  ImageSelectorTerm,
  PlatformSpec,
  SelectorTerm,
  UnikraftNodeClass,
  UnikraftNodeClassSpec,
} from '../../nodeclass/types.ts';
import { gcpClass, nodeClass } from '../samples.ts';
import { anyDuration, mapOf, prototypeName, someOf } from './values.ts';

const anyTags = mapOf(
  [
    'team',
    'Name',
    'aws:owner',
    'karpenter-sh-nodepool',
    'karpenter.sh/nodepool',
    'karpenter.unikraft.com/cluster',
    'constructor',
    'toString',
    prototypeName,
  ],
  fc.constantFrom('a', '', 'A'),
);

const anyTerm = someOf<ImageSelectorTerm>({
  id: fc.constantFrom('ami-0abc', 'projects/images-1/global/images/a'),
  family: fc.constant('unikraft-platform'),
  name: fc.constantFrom('unikraft-*', 'x'),
  ssmParameter: fc.constant('/images/platform'),
  owner: fc.constantFrom('self', '123456789012'),
});

const anyDevice = fc
  .tuple(
    fc.constantFrom('20Gi', '1Ti'),
    someOf<Omit<BlockDevice, 'volumeSize'>>({
      deviceName: fc.constantFrom('/dev/xvdb', '/dev/xvdc'),
      volumeType: fc.constantFrom('gp3', 'gp2', 'io1', 'io2', 'st1', 'sc1', 'standard'),
      iops: fc.constantFrom(100, 3000),
      throughput: fc.constantFrom(125, 250),
      encrypted: fc.boolean(),
      kmsKeyID: fc.constant('alias/machines'),
    }),
  )
  .map(([volumeSize, rest]): BlockDevice => ({ volumeSize, ...rest }));

const anyPlatform = someOf<PlatformSpec>({
  capacity: someOf<NonNullable<PlatformSpec['capacity']>>({
    vcpus: fc.constantFrom<string | number>(1, 64, '64', '400%'),
    memory: fc.constantFrom(
      '0',
      '0Gi',
      '512Ki',
      '0.5M',
      '1Mi',
      '256Gi',
      '99%',
      '100%',
      '101%',
      '1000%',
    ),
    volumeStorage: fc.constantFrom('0', '0Gi', '500Gi'),
    instances: fc.constantFrom(1, 1000, 1001),
  }),
  advertiseStorage: fc.boolean(),
  port: fc.constantFrom(443, 8443),
  config: mapOf(['NET_COUNT', 'constructor', prototypeName], fc.constantFrom('1', '2')),
});

type Api = UnikraftNodeClassSpec['certificate']['api'];

const anyCertificate: fc.Arbitrary<Api> = fc
  .tuple(
    fc.constantFrom<Api['mode']>('PrivateCA', 'SecretRef', 'CertManager', 'ACME', 'None'),
    someOf<Omit<Api, 'mode'>>({
      duration: anyDuration,
      caSecretRef: fc.constant({ name: 'ca' }),
      secretRef: fc.constant({ name: 'tls' }),
      acme: fc.constantFrom<NonNullable<Api['acme']>>(
        { directoryURL: 'https://acme.example.com/directory' },
        {
          directoryURL: 'https://acme.example.com/directory',
          externalAccountBinding: { keyID: 'ours', keySecretRef: { name: 'eab' } },
        },
      ),
      issuerRef: fc.constantFrom(
        { name: 'ca' },
        { name: 'pca', kind: 'PcaIssuer', group: 'pca.example.com' },
      ),
    }),
  )
  .map(([mode, rest]) => ({ mode, ...rest }));

const anyValues = mapOf<unknown>(
  ['node', 'ukc', 'kraftlet', 'image', 'priorityClassName', 'constructor'],
  mapOf<unknown>(
    ['name', 'taint', 'token', 'metro', 'replication', 'logLevel', 'constructor'],
    fc.constantFrom('a', 1),
  ),
);

const anyChange = someOf<UnikraftNodeClassSpec>({
  tags: anyTags,
  platform: anyPlatform,
  image: someOf<UnikraftNodeClassSpec['image']>({
    id: fc.constantFrom('ami-0abc', 'projects/images-1/global/images/a'),
    selectorTerms: fc.array(anyTerm, { minLength: 1, maxLength: 3 }),
  }),
  dns: fc
    .constantFrom(
      'api.{{node}}.{{zone}}',
      '{{node}}.{{zone}}',
      'api.{{zone}}',
      '{{node}}.example.com',
      '{{node}}{{zone}}',
    )
    .map((nameTemplate) => ({
      provider: 'Route53' as const,
      zone: 'machines.example.com',
      nameTemplate,
    })),
  deadlines: someOf<NonNullable<UnikraftNodeClassSpec['deadlines']>>({
    launch: anyDuration,
    healthy: anyDuration,
    registration: anyDuration,
  }),
  certificate: anyCertificate.map((api) => ({ api })),
  bootstrap: someOf<NonNullable<UnikraftNodeClassSpec['bootstrap']>>({
    mode: fc.constantFrom('UserData', 'Callback'),
    callback: fc.constant({ url: 'https://bootstrap.example.com' }),
  }),
  kraftlet: fc
    .record(
      {
        chart: fc.constantFrom('oci://registry.example.com/kraftlet', '/charts/kraftlet'),
        version: fc.constant('0.6.0'),
        values: anyValues,
      },
      { requiredKeys: ['chart'] },
    )
    .map((kraftlet) => kraftlet as UnikraftNodeClassSpec['kraftlet']),
});

const anyTerms = fc.constantFrom<SelectorTerm[]>(
  [{}],
  [{ name: 'machines' }],
  [{ tags: { team: 'a' } }, {}],
);

const anyAws = someOf<Omit<AwsSpec, 'region'>>({
  subnetSelectorTerms: anyTerms,
  securityGroupSelectorTerms: anyTerms,
  blockDevices: fc.array(anyDevice, { minLength: 1, maxLength: 3 }),
  assumeRoleARN: fc.constant('arn:aws:iam::123456789012:role/machines'),
  assumeRoleExternalID: fc.constant('cluster-1'),
});

const inAws: fc.Arbitrary<UnikraftNodeClass> = fc
  .tuple(anyChange, anyAws)
  .map(([changes, more]) => {
    const sample = nodeClass(changes);
    const { aws } = sample.spec;
    return aws ? { ...sample, spec: { ...sample.spec, aws: { ...aws, ...more } } } : sample;
  });

const anyDisk = someOf<Omit<GcpDisk, 'size'>>({
  type: fc.constantFrom(
    'pd-ssd',
    'hyperdisk-balanced',
    'hyperdisk-extreme',
    'hyperdisk-throughput',
  ),
  iops: fc.constantFrom(100, 3000),
  throughput: fc.constantFrom(125, 250),
}).map((rest): GcpDisk => ({ size: '20Gi', ...rest }));

const anyGcp = someOf<Pick<GcpSpec, 'zones' | 'disks'>>({
  zones: fc.subarray(['europe-west1-b', 'europe-west1-c', 'europe-west4-a'], { minLength: 1 }),
  disks: fc.array(anyDisk, { minLength: 1, maxLength: 3 }),
});

const anyDns = fc.constantFrom<UnikraftNodeClassSpec['dns']>(
  { provider: 'CloudDNS', zone: 'machines.example.com' },
  { provider: 'CloudDNS', zone: 'machines.example.com', project: 'names-1234' },
  { provider: 'Route53', zone: 'machines.example.com', project: 'names-1234' },
  { provider: 'Route53', zone: 'machines.example.com', server: 'ns1.example.com' },
  { provider: 'RFC2136', zone: 'machines.example.com', server: 'ns1.example.com' },
  {
    provider: 'RFC2136',
    zone: 'machines.example.com',
    server: 'ns1.example.com',
    tsig: { name: 'kpu', secretRef: { name: 'dns-key' } },
  },
  { provider: 'Route53', zone: 'machines.example.com' },
  { provider: 'ExternalDNS', zone: 'machines.example.com' },
  { provider: 'ExternalDNS', zone: 'machines.example.com', zoneID: 'Z1' },
  { provider: 'None', zone: 'machines.internal' },
  { provider: 'None', zone: 'machines.internal', zoneID: 'Z1' },
  { provider: 'None', zone: 'machines.internal', appZone: 'apps.machines.internal' },
);

const inGcp: fc.Arbitrary<UnikraftNodeClass> = fc
  .tuple(anyGcp, anyChange, anyDns)
  .map(([gcp, changes, dns]) => gcpClass(gcp, { ...changes, dns }));

const elsewhere: fc.Arbitrary<UnikraftNodeClass> = anyDns.map((dns) => nodeClass({ dns }));

export const anyNodeClass: fc.Arbitrary<UnikraftNodeClass> = fc.oneof(
  { arbitrary: inAws, weight: 5 },
  { arbitrary: inGcp, weight: 3 },
  { arbitrary: elsewhere, weight: 1 },
);
