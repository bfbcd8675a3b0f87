import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import corpus from './quantity.corpus.json' with { type: 'json' };
import { InvalidQuantity, Quantity } from './quantity.ts';

const suffixes = [
  'n',
  'u',
  'm',
  '',
  'k',
  'M',
  'G',
  'T',
  'P',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'e3',
  'E-3',
  'e6',
];
const texts = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.integer({ min: 0, max: 999_999 }),
    fc.constantFrom('', '.', '.5', '.25', '.001'),
    fc.constantFrom(...suffixes),
  )
  .map((parts) => parts.join(''));
const quantities = texts.map((text) => Quantity.parse(text));

describe('a quantity is read and written as the API server does it', () => {
  test('canonical form, whole units and thousandths', () => {
    const ours = corpus.read.map(([text, , units, milli]) => {
      const quantity = Quantity.parse(text ?? '');
      return [
        text,
        quantity.toString(),
        units === null ? null : String(quantity.toInteger()),
        milli === null ? null : String(quantity.toMilli()),
      ];
    });
    expect(ours).toEqual(corpus.read);
  });

  test('sums and differences', () => {
    const ours = corpus.added.map(([left = '', right = '']) => {
      const [a, b] = [Quantity.parse(left), Quantity.parse(right)];
      return [left, right, a.add(b).toString(), a.sub(b).toString()];
    });
    expect(ours).toEqual(corpus.added);
  });

  test.each(corpus.refused)('"%s" is refused', (text) => {
    expect(() => Quantity.parse(text)).toThrow(InvalidQuantity);
  });
});

describe('where Go loses the value, it is kept', () => {
  test.each([
    ['1000E', '1000E'],
    ['10E', '10E'],
    ['9223372036854775808', '9223372036854775808'],
  ])('%s is written %s', (text, canonical) => {
    expect(Quantity.parse(text).toString()).toBe(canonical);
  });

  test('whole numbers beyond int64 do not wrap around', () => {
    expect(Quantity.parse('10E').toInteger()).toBe(10n ** 19n);
    expect(Quantity.parse('1Ei').toMilli()).toBe(2n ** 60n * 1000n);
  });
});

describe('what would cost more than it says is refused', () => {
  test.each(['1e1000000000', '1e-99999999', '9'.repeat(5000), '.', '+', 'Mi', ''])(
    '%.20s',
    (text) => {
      expect(() => Quantity.parse(text)).toThrow(InvalidQuantity);
    },
  );

  test('and the message names the text and the way out', () => {
    expect(() => Quantity.parse('4GB')).toThrow(
      '"4GB" is no quantity: "GB" is no suffix. Write it like 500m, 2, 4Gi or 1e3.',
    );
  });
});

describe('the algebra holds', () => {
  test('the canonical form reads as the same value and is its own canonical form', () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const again = Quantity.parse(quantity.toString());
        expect(again.compareTo(quantity)).toBe(0);
        expect(again.toString()).toBe(quantity.toString());
      }),
    );
  });

  test('sums commute in value, and taking away undoes adding', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        expect(a.add(b).compareTo(b.add(a))).toBe(0);
        expect(a.add(b).sub(b).compareTo(a)).toBe(0);
      }),
    );
  });

  test('order is total and agrees with subtraction', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        expect(a.compareTo(b)).toBe(-b.compareTo(a) + 0);
        expect(Math.sign(Number(a.sub(b).toString().startsWith('-')))).toBe(
          a.compareTo(b) < 0 ? 1 : 0,
        );
      }),
    );
  });

  test('rounding never comes nearer to zero and never goes a whole unit too far', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (nanos) => {
        const size = nanos < 0n ? -nanos : nanos;
        const whole = Quantity.parse(`${nanos}n`).toInteger();
        const reached = (whole < 0n ? -whole : whole) * 1_000_000_000n;
        expect(reached >= size && reached - size < 1_000_000_000n).toBe(true);
        expect(whole < 0n).toBe(nanos < 0n);
      }),
    );
  });

  test('the first operand decides how a sum is written', () => {
    const [kibi, kilo] = [Quantity.parse('1Mi'), Quantity.parse('1024k')];
    expect(kibi.add(kilo).toString()).toBe('2024Ki');
    expect(kilo.add(kibi).toString()).toBe('2072576');
  });
});
