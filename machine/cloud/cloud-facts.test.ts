import { expect, test } from 'vitest';

import { CloudFacts } from './cloud-facts.ts';

test('a region has its prices, for either cloud', async () => {
  const facts = new CloudFacts();
  const frankfurt = await facts.prices('aws', 'eu-central-1');
  expect(frankfurt.of('c5.metal')).toMatchObject({ perHour: 4.656, basis: 'table' });
  const belgium = await facts.prices('gcp', 'europe-west1');
  expect(belgium.of('n2-standard-4')).toMatchObject({ perHour: 0.213668, basis: 'table' });
});

test('the same region is worked out once, until prices are set', async () => {
  const facts = new CloudFacts();
  const first = await facts.prices('aws', 'eu-central-1');
  expect(await facts.prices('aws', 'eu-central-1')).toBe(first);

  facts.override(new Map([['aws.eu-central-1', new Map([['c5.metal', 3]])]]));
  const second = await facts.prices('aws', 'eu-central-1');
  expect(second.of('c5.metal')).toEqual({ perHour: 3, basis: 'override' });
  expect((await facts.prices('aws', 'us-east-1')).of('c5.metal')?.perHour).toBe(4.08);

  facts.override(new Map());
  expect((await facts.prices('aws', 'eu-central-1')).of('c5.metal')?.perHour).toBe(4.656);
});

test('prices that are set while the file is read hold at once', async () => {
  const facts = new CloudFacts();
  const asked = facts.prices('aws', 'eu-central-1');
  facts.override(new Map([['aws.eu-central-1', new Map([['c5.metal', 3]])]]));
  expect((await asked).of('c5.metal')?.perHour).toBe(3);
});

test('sizes are those that are sold somewhere in the region, by zone id', async () => {
  const sizes = await new CloudFacts().sizes('aws', 'eu-north-1');
  const names = sizes?.types.map(({ name }) => name) ?? [];
  expect(names).toContain('m7i.large');
  expect(names).not.toContain('m8azn.metal-12xl');
  expect([...(sizes?.soldIn.keys() ?? [])]).toEqual(['eun1-az1', 'eun1-az2', 'eun1-az3']);
  expect(sizes?.soldIn.get('eun1-az1')?.has('m7i.large')).toBe(true);
});

test('where it was not recorded what is sold, nothing is made up', async () => {
  const facts = new CloudFacts();
  expect(await facts.sizes('aws', 'eu-west-3')).toBeUndefined();
  expect(await facts.sizes('gcp', 'europe-west1')).toBeUndefined();
});
