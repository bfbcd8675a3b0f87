import fc from 'fast-check';
import { expect, test } from 'vitest';

import { overrideKey, readOverrides } from './price-overrides.ts';

const key = overrideKey('aws', 'eu-central-1');
const held = (perHour: number) => new Map([[key, new Map([['m8i.large', perHour]])]]);

test('a line sets the price of a size; comments and empty lines say nothing', () => {
  const { prices, problems } = readOverrides({
    'aws.eu-central-1':
      '# agreed with the cloud, 2026\n\nm8i.large: 0.12 # per hour\r\n  c5.metal : 4\n',
    'gcp.europe-west1': 'n2-standard-4: 0.18\nc3-highcpu-192-metal: 8.6',
    'aws.us-gov-west-1': '',
  });
  expect(problems).toEqual([]);
  expect(prices).toEqual(
    new Map([
      ['aws.eu-central-1', new Map(Object.entries({ 'm8i.large': 0.12, 'c5.metal': 4 }))],
      [
        'gcp.europe-west1',
        new Map(Object.entries({ 'n2-standard-4': 0.18, 'c3-highcpu-192-metal': 8.6 })),
      ],
      ['aws.us-gov-west-1', new Map()],
    ]),
  );
});

test.each([
  ['m8i.large: free', 'm8i.large costs "free"; write USD per hour with a decimal point'],
  ['m8i.large: 0', 'more than 0'],
  ['m8i.large: -1', 'm8i.large costs "-1"'],
  ['m8i.large: 0,12', 'm8i.large costs "0,12"'],
  ['m8i.large: "0.12"', String.raw`m8i.large costs "\"0.12\""`],
  ['m8i.large: $0.12', 'm8i.large costs "$0.12"'],
  ['m8i.large: 2001', 'at most 2000'],
  ['m8i.large: 1e3', 'm8i.large costs "1e3"'],
  ['m8i.large: Infinity', 'm8i.large costs "Infinity"'],
  ['m8i.large:', 'm8i.large costs ""'],
  ['m8i.large 0.12', '"m8i.large 0.12" is no size of aws; write a line such as "m8i.large: 0.12"'],
  ['n2-standard-4: 0.12', '"n2-standard-4" is no size of aws'],
  ['__proto__: 0.12', '"__proto__" is no size of aws'],
  [`${'x'.repeat(900)}: 1`, `"${'x'.repeat(40)}…" is no size`],
])('%j is refused by its line, and the lines around it are taken', (line, told) => {
  const text = `c7i.large: 0.1\n${line}\nc7i.xlarge: 0.2`;
  const { prices, problems } = readOverrides({ [key]: text });
  expect(problems).toEqual([expect.stringContaining(`data[${key}] line 2: `)]);
  expect(problems[0]).toContain(told);
  expect([...(prices.get(key) ?? [])]).toEqual([
    ['c7i.large', 0.1],
    ['c7i.xlarge', 0.2],
  ]);
});

test('a slip leaves the price that held before', () => {
  const { prices, problems } = readOverrides({ [key]: 'm8i.large: O.13' }, held(0.12));
  expect(problems).toHaveLength(1);
  expect(prices).toEqual(held(0.12));
});

test('a line that is taken away takes its price with it', () => {
  expect(readOverrides({ [key]: 'c7i.large: 0.1' }, held(0.12)).prices.get(key)).toEqual(
    new Map([['c7i.large', 0.1]]),
  );
  expect(readOverrides({}, held(0.12))).toEqual({ prices: new Map(), problems: [] });
});

test('a size that is there twice keeps its first price, and is told', () => {
  const { prices, problems } = readOverrides({ [key]: 'm8i.large: 1\nm8i.large: 2' });
  expect(prices).toEqual(held(1));
  expect(problems).toEqual([
    'data[aws.eu-central-1] line 2: m8i.large is there twice; keep one of the lines',
  ]);
});

test.each(['aws', 'azure.westeurope', 'aws.', 'aws.europe', 'gcp.eu-central-1', 'gcp.europe-west'])(
  'a key %j names no region, and is told',
  (name) => {
    expect(readOverrides({ [name]: 'm8i.large: 1' })).toEqual({
      prices: new Map(),
      problems: [
        `data[${name}]: name the key by cloud and region, such as aws.eu-central-1 or gcp.europe-west1`,
      ],
    });
  },
);

test('whatever stands there, no price is taken that is none, and each line is taken or told', () => {
  const line = fc.oneof(
    fc.string(),
    fc.tuple(fc.string(), fc.string()).map((parts) => parts.join(':')),
    fc
      .tuple(fc.constantFrom('m8i.large', 'c5.metal'), fc.double())
      .map((parts) => parts.join(': ')),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const { prices, problems } = readOverrides({ [key]: lines.join('\n') });
      const taken = [...(prices.get(key)?.values() ?? [])];
      expect(taken.every((price) => price > 0 && price <= 2000)).toBe(true);
      const said = lines.flatMap((text) => text.split(/\r?\n/)).filter(saysSomething);
      expect(taken.length + problems.length).toBe(said.length);
    }),
  );
});

const saysSomething = (text: string): boolean => !/^\s*(#[^]*)?$/.test(text);
