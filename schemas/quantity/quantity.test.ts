import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import corpus from './quantity.corpus.json' with { type: 'json' };
import { InvalidQuantity, Quantity, quantityProblem } from './quantity.ts';

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

describe('what the API server stores is read, however large', () => {
  test.each(corpus.stored)('%s is the same as %s, which it is stored as', (text, stored) => {
    const [quantity, again] = [text, stored].map((one) => Quantity.parse(one ?? ''));
    expect(quantity?.compareTo(again!)).toBe(0);
    expect(Quantity.parse(quantity!.toString()).compareTo(again!)).toBe(0);
  });

  const most = Quantity.parse('1e1000');

  test('what is beyond 10^1000 counts as that much, and no sum goes beyond', () => {
    for (const text of ['1e2000', '9'.repeat(1102), '1e2147483647', `${'9'.repeat(5000)}n`]) {
      const quantity = Quantity.parse(text);
      expect(quantity.compareTo(most)).toBe(0);
      expect(quantity.add(quantity).compareTo(most)).toBe(0);
      expect(Quantity.parse(`-${text}`).sub(quantity).add(quantity).isZero()).toBe(true);
    }
    expect(Quantity.parse(`${'9'.repeat(1102)}Ki`).toString()).toBe(`${2n ** 63n - 1n}`);
  });

  /** As long as it is small, what it should be can be made plainly. */
  const plainly = (whole: string, part: string, exponent: number): bigint => {
    const power = exponent - part.length + 9;
    const digits = BigInt(whole + part);
    if (power >= 0) return digits * 10n ** BigInt(power);
    const by = 10n ** BigInt(-power);
    return (digits + by - 1n) / by;
  };
  const digits = fc.oneof(
    fc.stringMatching(/^[0-9]{1,40}$/),
    fc.nat({ max: 1200 }).map((length) => `1${'0'.repeat(length)}`),
    fc.nat({ max: 1200 }).map((length) => `${'0'.repeat(length)}1`),
  );
  const exponents = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.integer({ min: -2500, max: 2500 }),
  );

  test('a number has its value where it is below, whatever its digits, its point and its exponent', () => {
    fc.assert(
      fc.property(digits, digits, exponents, (whole, part, exponent) => {
        const exact = plainly(whole, part, exponent);
        const bound = 10n ** 1009n;
        const text = `${whole}.${part}e${exponent}`;
        const quantity = Quantity.parse(text);
        const expected = exact > bound ? '1e1000' : `${exact}n`;
        expect(quantity.compareTo(Quantity.parse(expected))).toBe(0);
        expect(Quantity.parse(quantity.toString()).compareTo(quantity)).toBe(0);
      }),
    );
  });

  test('one with a binary suffix is rounded up by what is far behind its point', () => {
    fc.assert(
      fc.property(fc.nat(1000), digits, fc.constantFrom(1, 2, 3, 6), (whole, part, step) => {
        const suffix = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][step] ?? '';
        const by = 10n ** BigInt(part.length);
        const size = BigInt(`${whole}${part}`) * 10n ** 9n * 1024n ** BigInt(step);
        const exact = (size + by - 1n) / by;
        const largest = (2n ** 63n - 1n) * 10n ** 9n;
        const expected = Quantity.parse(`${exact > largest ? largest : exact}n`);
        expect(Quantity.parse(`${whole}.${part}${suffix}`).compareTo(expected)).toBe(0);
      }),
    );
  });

  test('any exponent of 64 bits is read, and a larger one is refused', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (exponent) => {
        const isRead = quantityProblem(`7e${exponent}`) === undefined;
        expect(isRead).toBe(BigInt.asIntN(64, exponent) === exponent);
      }),
    );
  });

  // Some milliseconds each; a reader that goes back over a text would take hours, a number of that size all memory.
  test.each(['9', '1.9', '1e', '1a', '0.0', 'a', '+'])(
    'megabytes after %s cost little',
    (start) => {
      const text = start + (start.at(-1) ?? '').repeat(1_000_000);
      const before = performance.now();
      expect(() => [text, `${text}!`, `${text}1`].map(problemOf)).not.toThrow();
      expect(performance.now() - before).toBeLessThan(2000);
    },
  );
});

const problemOf = (text: string): number => quantityProblem(text)?.length ?? 0;

describe('what is no quantity is refused', () => {
  test.each(['.', '+', 'Mi', ''])('"%s"', (text) => {
    expect(() => Quantity.parse(text)).toThrow(InvalidQuantity);
  });

  test('and the message names the text and the way out', () => {
    expect(() => Quantity.parse('4GB')).toThrow(
      '"4GB" is no quantity: "GB" is no suffix. Write it like 500m, 2, 4Gi or 1e3.',
    );
  });
});

describe('the algebra holds', () => {
  test('the canonical form reads as the same value, and what that is written as stays', () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const again = Quantity.parse(quantity.toString());
        expect(again.compareTo(quantity)).toBe(0);
        const settled = Quantity.parse(again.toString());
        expect(settled.compareTo(quantity)).toBe(0);
        expect(settled.toString()).toBe(again.toString());
      }),
    );
  });

  // A binary size that is no multiple of 1024 is written without a suffix, and that reads as a decimal one.
  test.each([
    ['990812.5Ki', '1014592000', '1014592k'],
    ['62.5Ki', '64000', '64k'],
  ])('%s is written %s, which is written %s', (text, once, twice) => {
    expect(Quantity.parse(text).toString()).toBe(once);
    expect(Quantity.parse(once).toString()).toBe(twice);
    expect(Quantity.parse(twice).toString()).toBe(twice);
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
