import { expect, test } from 'vitest';

import { readArguments, UsageError } from '#test/crash/arguments.ts';
import { variants } from '#test/crash/tally.ts';

test('nothing said is everything', () => {
  expect(readArguments([])).toEqual({
    clouds: ['aws', 'gcp'],
    variants,
    only: '',
    json: false,
    help: false,
  });
});

test('a cloud, a variant and a part of a step are taken', () => {
  const args = ['--cloud', 'gcp', '--variant', 'changed', '--only', 'POST instances', '--json'];
  expect(readArguments(args)).toMatchObject({
    clouds: ['gcp'],
    variants: ['changed'],
    only: 'POST instances',
    json: true,
  });
});

test.each([
  [['--cloud', 'azure'], '--cloud azure: there is none of this name; take aws, gcp'],
  [['--variant', 'x'], /--variant x: .* take restart, takeover, api-away, changed$/],
  [['--only', ' '], /^--only: it needs a part of a step/],
  [['--cluod', 'aws'], /^Unknown option '--cluod'.*; take --cloud, --variant, --only, --json/],
  [['--cloud'], /--cloud.*; take --cloud/],
  [['aws'], /aws.*; take --cloud/],
])('%j is refused in a line that tells what is allowed', (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
  expect(() => readArguments(args)).toThrow(/^[^\n]*$/);
});
