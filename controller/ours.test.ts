import { expect, test } from 'vitest';

import { group, labels } from '#schemas/names.ts';

import { isOurNode, isOurs } from './ours.ts';
import { foreignRef, nodeClaim, nodePool, ourRef } from './testing/objects.ts';

const poolWith = (nodeClassRef: typeof ourRef) =>
  nodePool({ template: { spec: { nodeClassRef, requirements: [] } } });
const claimWith = (nodeClassRef: typeof ourRef) =>
  nodeClaim('a', { spec: { nodeClassRef, requirements: [] } });

test.each([poolWith, claimWith])('group and kind of the node class decide whose it is', (made) => {
  expect(isOurs(made(ourRef))).toBe(true);
  expect(isOurs(made({ ...ourRef, name: 'another' }))).toBe(true);
  expect(isOurs(made(foreignRef))).toBe(false);
  expect(isOurs(made({ group, kind: 'EC2NodeClass', name: 'default' }))).toBe(false);
  expect(isOurs(made({ ...ourRef, group: 'karpenter.k8s.aws' }))).toBe(false);
});

test('a Node is ours by the label it is born with', () => {
  expect(isOurNode({ metadata: { labels: { [labels.nodeClass]: 'default' } } })).toBe(true);
  expect(isOurNode({ metadata: { labels: { 'karpenter.k8s.aws/ec2nodeclass': 'x' } } })).toBe(
    false,
  );
  expect(isOurNode({})).toBe(false);
});
