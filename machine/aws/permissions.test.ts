import { readFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { tags } from '#schemas/names.ts';

interface Statement {
  Sid: string;
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

const machine = new URL('..', import.meta.url);
const policy = JSON.parse(
  readFileSync(new URL('../docs/tasks/aws-policy.json', machine), 'utf8'),
) as { Statement: Statement[] };
const listOf = (value: string | string[]): string[] => [value].flat();
const allowed = policy.Statement.flatMap(({ Action }) => listOf(Action));

/** IAM's names of what the SDK calls by the name of its package. */
const services: Readonly<Record<string, string>> = {
  'client-ec2': 'ec2',
  'client-route-53': 'route53',
  'client-ssm': 'ssm',
  'client-sts': 'sts',
};

/** `ec2:RunInstances` of `RunInstancesCommand` and `paginateRunInstances`, by what a file imports from the SDK's clients. */
function actionsIn(source: string): string[] {
  const imports = source.matchAll(/import (?!type)\{([^}]*)\} from '@aws-sdk\/(client-[\w-]+)'/g);
  return [...imports].flatMap(([, names = '', from = '']) => {
    const service = services[from];
    if (service === undefined) throw new Error(`${from} is no service that is known here`);
    const calls = [...names.matchAll(/\b(?:paginate(\w+)|(\w+)Command)\b/g)];
    return calls.map(([, paged, single]) => `${service}:${paged ?? single}`);
  });
}

async function actionsInCode(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const path of glob('**/*.ts', { cwd: machine })) {
    if (path.endsWith('.test.ts')) continue;
    const source = await readFile(new URL(path, machine), 'utf8');
    for (const action of actionsIn(source)) found.add(action);
  }
  return found;
}

/** What EC2 asks for beside the call itself when an instance gets a profile. */
const implied = ['iam:PassRole'];

test('every call in the code is allowed by the policy, and nothing else is', async () => {
  const called = [...(await actionsInCode()), ...implied];
  expect(called).toContain('ec2:RunInstances'); // the code was found
  expect([...new Set(allowed)].toSorted()).toEqual(called.toSorted());
});

test('T23: a launch is one call, which makes nothing that could pile up', async () => {
  const makes = [...(await actionsInCode())].filter((action) =>
    /^ec2:(Create|Run|Modify)/.test(action),
  );
  expect(makes.toSorted()).toEqual(['ec2:CreateTags', 'ec2:RunInstances']);
});

test('a call is read from what is imported, types aside', () => {
  const source = `import type { TerminateInstancesCommand } from '@aws-sdk/client-ec2';
    import { CreateTagsCommand, type EC2Client, paginateDescribeImages } from '@aws-sdk/client-ec2';`;
  expect(actionsIn(source)).toEqual(['ec2:CreateTags', 'ec2:DescribeImages']);
  expect(() => actionsIn(`import { X } from '@aws-sdk/client-s3';`)).toThrow('client-s3');
});

test('no statement allows a pattern of actions, and what makes, tags, ends or deletes is bound to this cluster', () => {
  expect(allowed.filter((action) => action.includes('*'))).toEqual([]);
  const writes = policy.Statement.filter(({ Action }) =>
    listOf(Action).some((action) => /^ec2:(Run|Create|Terminate|Delete)/.test(action)),
  );
  const free = writes.filter(({ Condition }) => Condition === undefined);
  expect(free.map(({ Sid }) => Sid)).toEqual(['MakeThemFrom']); // things that are there already
});

test('tags that are put back are those that we write, all of them', () => {
  const again = policy.Statement.find(({ Sid }) => Sid === 'TagAgain');
  const keys = again?.Condition?.['ForAllValues:StringEquals']?.['aws:TagKeys'] ?? [];
  expect(listOf(keys).toSorted()).toEqual(Object.values(tags).toSorted());
});
