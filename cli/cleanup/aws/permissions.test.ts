import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { tags } from '#schemas/names.ts';

const root = new URL('../../../', import.meta.url);
const policy = JSON.parse(
  readFileSync(new URL('docs/tasks/aws-cleanup-policy.json', root), 'utf8'),
) as { Statement: { Action: string | string[]; Condition?: unknown }[] };
const allowed = policy.Statement.flatMap(({ Action }) => [Action].flat());

/** IAM's names of what the SDK calls by the name of its package. */
const services: Readonly<Record<string, string>> = {
  'client-ec2': 'ec2',
  'client-route-53': 'route53',
  'client-sts': 'sts',
};

/** A file and all that it loads of this project. */
function reached(path: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(path)) return seen;
  const source = readFileSync(path, 'utf8');
  seen.set(path, source);
  for (const [, from = ''] of source.matchAll(/^import (?!type)[^;]*? from '([#.][^']+)';/gm)) {
    const url = from.startsWith('#')
      ? new URL(from.slice(1), root)
      : new URL(from, `file://${path}`);
    reached(fileURLToPath(url), seen);
  }
  return seen;
}

function actionsIn(source: string): string[] {
  const imports = source.matchAll(/import (?!type)\{([^}]*)\} from '@aws-sdk\/([\w-]+)'/g);
  return [...imports].flatMap(([, names = '', from = '']) =>
    [...names.matchAll(/\b(?:paginate(\w+)|(\w+)Command)\b/g)].map(
      ([, paged, single]) => `${services[from]}:${paged ?? single}`,
    ),
  );
}

test('every call of the command is allowed by its policy, and nothing else is', () => {
  const sources = [...reached(fileURLToPath(new URL('cli/cleanup/aws/places.ts', root))).values()];
  const called = new Set(sources.flatMap(actionsIn));
  expect(called).toContain('ec2:DeleteVolume'); // the code was found
  expect(allowed.toSorted()).toEqual([...called].toSorted());
});

test('only things of this cluster may be ended or deleted', () => {
  const ending = policy.Statement.filter(({ Action }) =>
    [Action].flat().some((action) => /^ec2:(Terminate|Delete)/.test(action)),
  );
  expect(ending.length).toBeGreaterThan(0);
  for (const { Condition } of ending) {
    expect(Condition).toEqual({
      StringEquals: { [`aws:ResourceTag/${tags.cluster}`]: '<cluster UID>' },
    });
  }
});
