import { expect, test } from 'vitest';

import { labelsOf } from './labels.ts';

test('a size is told apart by its labels', () => {
  expect(
    labelsOf({
      name: 'm8i.xlarge',
      family: 'm8i',
      vcpus: 4,
      memoryMiB: 16_384,
      architecture: 'amd64',
      metal: false,
      nested: true,
    }),
  ).toEqual({
    'node.kubernetes.io/instance-type': 'm8i.xlarge',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'karpenter.unikraft.com/instance-family': 'm8i',
    'karpenter.unikraft.com/instance-vcpus': '4',
    'karpenter.unikraft.com/instance-memory': '16384',
    'karpenter.unikraft.com/nested-virtualization': 'true',
  });
});
