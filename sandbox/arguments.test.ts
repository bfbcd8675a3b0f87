import { expect, test } from 'vitest';

import { readArguments } from './arguments.ts';

test('the cloud is AWS unless another is named, and one that is not known is told', () => {
  expect(readArguments([])).toMatchObject({ cloud: 'aws', once: false });
  expect(readArguments(['--once', '--cloud', 'gcp'])).toMatchObject({ cloud: 'gcp', once: true });
  expect(readArguments(['--dist'])).toMatchObject({ cloud: 'aws', dist: true });
  expect(readArguments(['--cloud', 'azure'])).toEqual(
    new Error('--cloud azure: there are aws, gcp'),
  );
  expect(readArguments(['--clouds'])).toBeInstanceOf(Error);
});
