import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { render, type Manifest } from '#sandbox/manifests/render.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

type Prices = Manifest & ConfigMap;

let world: TestWorld;
let sample: Prices;

beforeAll(async () => {
  const tools = inject('tools');
  world = await TestWorld.start(tools);
  [sample] = (await render(tools.kubectl, 'kustomize/samples/prices')) as [Prices];
});
afterAll(async () => world?.stop());

test('what is launched is the cheapest by the prices of the sample, whatever slips in beside them', async () => {
  const recorded = await new CloudFacts().prices('aws', 'eu-central-1');
  const [cheap, set] = ['c7i-flex.xlarge', 'm7i.xlarge'];
  expect(recorded.of(cheap)?.perHour).toBeLessThan(recorded.of(set)?.perHour ?? 0);

  const [configMap] = await world.expectApplied(sample);
  const key = 'aws.eu-central-1';
  const slipped: Prices = { ...sample, data: { [key]: `${sample.data?.[key]}\n${cheap}: 0,05` } };
  await world.expectApplied(slipped);
  const event = await world.expectEvent(configMap!, 'PricesRefused');
  expect(event.message).toContain(`${cheap} costs "0,05"; write USD per hour with a decimal point`);
  expect(event.metadata.namespace).toBe('karpenter-unikraft');
  expect(await world.eventsOf(configMap!)).toEqual(['PricesRefused']); // the sample as it is has no slip

  await world.expectUsable(nodeClass());
  await world.expectApplied(nodePool(), optedInPod('first', { cpu: '1' }));
  const [claim] = await world.expectClaims(1);
  await world.expectCondition(claim!, 'Launched', { status: 'True' });
  expect((await world.claim(claim!)).metadata.labels?.[labels.instanceType]).toBe(set);
});
