import { beforeEach, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import { PricesController } from './controller.ts';
import { pricesController } from './wiring.ts';

const name = 'karpenter-unikraft-prices';
const region = 'aws.eu-central-1';
let world: ReturnType<typeof memoryContext>;
let facts: CloudFacts;
let controller: PricesController;

beforeEach(() => {
  world = memoryContext();
  facts = new CloudFacts();
  controller = new PricesController(world.context, facts);
});

const seed = (data: Record<string, string>, named = name) =>
  world.client.seed(configMaps, { metadata: { name: named, namespace: world.namespace }, data });
const reconcile = () => controller.reconcile(`${world.namespace}/${name}`);
const priceOf = async (size: string) => (await facts.prices('aws', 'eu-central-1')).of(size);

test('a price that is set holds until its ConfigMap goes', async () => {
  seed({ [region]: 'm8i.large: 0.07' });
  await reconcile();
  expect(await priceOf('m8i.large')).toEqual({ perHour: 0.07, basis: 'override' });
  expect(world.notes).toEqual([]);

  world.client.remove(configMaps, { name, namespace: world.namespace });
  await reconcile();
  expect(await priceOf('m8i.large')).toMatchObject({ basis: 'derived' });
});

test('a slip is told on the ConfigMap with its line and the way out, and the last good price stays', async () => {
  seed({ [region]: 'm8i.large: 0.07\nm8i.xlarge: 0.14' });
  await reconcile();
  seed({ [region]: 'm8i.large: 0.07 USD\nm8i.xlarge: 0.15' });
  await reconcile();

  expect(await priceOf('m8i.large')).toMatchObject({ perHour: 0.07 });
  expect(await priceOf('m8i.xlarge')).toMatchObject({ perHour: 0.15 });
  expect(world.notes).toEqual([
    expect.objectContaining({
      object: expect.objectContaining({
        metadata: expect.objectContaining({ name }) as object,
      }) as object,
      type: 'Warning',
      reason: 'PricesRefused',
      message:
        'Not taken, what held before for these holds on: data[aws.eu-central-1] line 1: m8i.large costs "0.07 USD"; ' +
        'write USD per hour with a decimal point, more than 0 and at most 2000 (KPU348)',
    }),
  ]);
});

test('a hundred slips make one event that an API server takes', async () => {
  seed({ [region]: Array.from({ length: 100 }, () => 'x'.repeat(300)).join('\n') });
  await reconcile();
  const [note] = world.notes;
  expect(note?.message).toContain('; and 97 more (KPU348)');
  expect(note?.message.length).toBeLessThan(1024);
});

test('the ConfigMap is followed, and no other one', async () => {
  const running = new AbortController();
  const ended = pricesController(world.context, facts, new Metrics()).run(running.signal);
  seed({ [region]: 'm8i.large: 0.5' }, 'another');
  await world.clock.forward(seconds(1));
  expect(await priceOf('m8i.large')).toMatchObject({ basis: 'derived' });

  seed({ [region]: 'm8i.large: 0.07' });
  await world.clock.forward(seconds(1));
  expect(await priceOf('m8i.large')).toMatchObject({ perHour: 0.07 });
  running.abort();
  await ended;
});
