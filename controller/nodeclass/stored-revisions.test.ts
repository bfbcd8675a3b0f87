import { beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { NodeClassWorld } from '../testing/node-class-world.ts';
import { nodeClaim } from '../testing/objects.ts';

let world: NodeClassWorld;

beforeEach(() => {
  world = new NodeClassWorld();
});

describe('old revisions', () => {
  const zone = (number: number): Partial<UnikraftNodeClassSpec> => ({
    dns: { provider: 'Route53', zone: `z${number}.example.com` },
  });

  test('are kept while a claim names them, ten for a look back, and the rest goes', async () => {
    await world.apply(zone(0));
    const first = world.current?.name ?? '';
    const claim = nodeClaim('web-1');
    claim.metadata = { ...claim.metadata, annotations: { [annotations.revision]: first } };
    world.client.seed(nodeClaims, claim);
    for (let number = 1; number <= 15; number++) await world.apply(zone(number));
    expect(world.stored).toHaveLength(12); // the current one, the claim's and ten
    expect(world.revisions.get(first)?.dnsZoneID).toBe('id-of-z0.example.com');

    world.client.remove(nodeClaims, { name: 'web-1' });
    await world.look();
    expect(world.revisions.get(first)).toBeUndefined();
    expect(world.stored).toHaveLength(11);
  });
});
