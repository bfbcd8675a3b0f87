import { afterEach, beforeEach, expect, test } from 'vitest';

import { nodePools } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Call } from '../testing/memory-client.ts';
import { refusal } from '../testing/refusals.ts';
import { World } from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const of = (pool: string) => ({ spec: { nodeSelector: { [labels.nodePool]: pool } } });
const claimsOf = (pool: string) =>
  world.claims.filter(({ metadata }) => metadata.labels?.[labels.nodePool] === pool);

/** As an admission policy, or the API server's own schema, would have it. */
function refuseClaimsOf(pool: string): void {
  const matches = ({ verb, plural, body }: Call): boolean =>
    verb === 'create' && plural === 'nodeclaims' && JSON.stringify(body).includes(`"${pool}-"`);
  world.client.fail(matches, refusal(422, 'Invalid', 'a label is too long'), 1000);
}

test('a pool whose claims are refused keeps no other pool waiting, and is not asked hot', async () => {
  world.seedPool('bad');
  world.seedPool('web');
  refuseClaimsOf('bad');
  world.start();
  world.seedPod('hopeless', { cpu: '1' }, of('bad'));
  await world.clock.forward(seconds(60));

  world.seedPod('well', { cpu: '1' }, of('web'));
  await world.clock.forward(seconds(2));

  expect(claimsOf('web')).toHaveLength(1);
  expect(claimsOf('bad')).toHaveLength(0);
  const tries = world.client.calls.filter(
    ({ verb, plural }) => verb === 'create' && plural === 'nodeclaims',
  );
  expect(tries.length).toBeLessThan(10);
});

test('the refused pool is tried again, and its Pod is told why it waits', async () => {
  world.seedPool('bad');
  refuseClaimsOf('bad');
  world.start();
  world.seedPod('hopeless', { cpu: '1' }, of('bad'));
  await world.clock.forward(seconds(180)); // by then it rests longer than a pass is away
  expect(world.notesOf('FailedScheduling').at(-1)?.message).toContain('a label is too long');

  await world.client.delete(nodePools, { name: 'bad' });
  world.seedPool('good');
  world.seedPod('well', { cpu: '1' }, of('good'));
  await world.clock.forward(seconds(12));
  expect(claimsOf('good')).toHaveLength(1);
});
