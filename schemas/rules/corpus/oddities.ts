import fc from 'fast-check';

import type { KubeObject } from '../../kubernetes/meta.ts';

/** Any JSON that is easy to mistake for something else. */
const anyOddity = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  1e19,
  '',
  'true',
  '1',
  'spot',
  'constructor',
  [],
  [null],
  ['on-demand', 1],
  [[]],
  {},
  { constructor: 'a' },
  { key: 'karpenter.sh/capacity-type' },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: 'on-demand' },
);

type Path = readonly (string | number)[];

/** The same objects with one or two of their values replaced by something that has no business there. */
export function oddly(any: fc.Arbitrary<KubeObject>): fc.Arbitrary<KubeObject> {
  const once = (arbitrary: fc.Arbitrary<KubeObject>): fc.Arbitrary<KubeObject> =>
    fc.tuple(arbitrary, fc.nat(), anyOddity).map(([object, pick, oddity]) => {
      const paths = pathsIn(object).filter(([first]) => first !== 'kind' && first !== 'apiVersion');
      const path = paths[pick % paths.length];
      return path ? (replaced(object, path, oddity) as KubeObject) : object;
    });
  return fc.oneof(once(any), once(once(any)));
}

function pathsIn(value: unknown, at: Path = []): Path[] {
  if (value === null || typeof value !== 'object') return at.length > 0 ? [at] : [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index): [number, unknown] => [index, item])
    : Object.entries(value);
  return [
    ...(at.length > 0 ? [at] : []),
    ...entries.flatMap(([key, item]) => pathsIn(item, [...at, key])),
  ];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? replaced(item, rest, by) : item));
  const entries = Object.entries(value as object).map(([name, item]): [string, unknown] => [
    name,
    name === key ? replaced(item, rest, by) : item,
  ]);
  return Object.fromEntries(entries);
}
