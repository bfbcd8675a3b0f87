import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { BuildContext, copiesOf, type Deployment, readDockerfile, wordsOf } from './dockerfile.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const stages = readDockerfile(read('Dockerfile'));
const image = stages.at(-1)!;
const context = new BuildContext(read('.dockerignore'));
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  optionalDependencies: Record<string, string>;
};
const deployments = globSync('kustomize/*/deployment.yaml', { cwd: root })
  .flatMap((path) => parseAllDocuments(read(path)))
  .map((document) => document.toJS() as Deployment);
const containers = deployments.flatMap(({ spec }) => spec.template.spec.containers);

/** `1.26.9` of `golang:1.26.9-trixie`. */
const versionOf = (base: string): string => base.replace(/^[^:]+:/, '').replace(/-.*$/, '');

test('Node is the one that is developed and measured with, and Go is as new as Helm asks for', () => {
  const bases = stages.map(({ base }) => base);
  const node = bases.filter((base) => base.startsWith('node:')).map(versionOf);
  expect(new Set(node)).toEqual(new Set(Object.values(manifest.optionalDependencies)));

  const [, asked = ''] = /^go (\S+)$/m.exec(read('sandbox/helm/go.mod')) ?? [];
  const [go = ''] = bases.filter((base) => base.startsWith('golang:')).map(versionOf);
  expect(go.localeCompare(asked, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
  expect(bases.filter((base) => !/:\d+\.\d+\.\d+-\w/.test(base))).toEqual([]); // exact, each of them
});

test('Helm is built from the module that pins it', () => {
  const helm = stages.find(({ name }) => name === 'helm')!;
  const [, tool = ''] = /^tool (\S+)$/m.exec(read('sandbox/helm/go.mod')) ?? [];
  expect(copiesOf(helm).flatMap(({ sources }) => sources)).toEqual([
    'sandbox/helm/go.mod',
    'sandbox/helm/go.sum',
  ]);
  expect(wordsOf(helm, 'RUN').at(-1)).toMatch(new RegExp(`go build -mod=readonly .* ${tool}$`));
});

test('what it copies is there, and is not kept from the build', () => {
  const sources = stages
    .flatMap(copiesOf)
    .filter(({ from }) => from === undefined)
    .flatMap((copy) => copy.sources)
    .filter((path) => path !== '.');
  expect(sources).toContain('package-lock.json');
  expect([...sources, ...context.named].filter((path) => !existsSync(join(root, path)))).toEqual(
    [],
  );
  expect(sources.filter((path) => !context.has(path))).toEqual([]);
});

test('nothing but sources comes into a build', () => {
  const kept = [
    'controller/main.ts',
    'schemas/instances/data/aws.jsonl',
    'scripts/run.js',
    '.npmrc',
  ];
  const left = [
    '.git/config',
    'node_modules/yaml/package.json',
    'dist/controller/main.js',
    'controller/nodeclaim/chain.test.ts',
    'controller/testing/world.ts',
    'scripts/check.ts',
    'sandbox/main.ts',
    '.env',
  ];
  expect([...kept, ...left].filter((path) => context.has(path))).toEqual(kept);
});

test('it runs as nobody in particular, and has what the Deployments start', async () => {
  const { default: config } = await import('../../rolldown.config.ts');
  const bundles = Object.keys(config.input as object).map((name) => `${name}.js`);

  const [user] = wordsOf(image, 'USER');
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/); // by number: runAsNonRoot believes no name
  expect(containers.length).toBeGreaterThan(1);
  for (const { image: named, command = [] } of containers) {
    expect(named).toBe(`karpenter-provider-unikraft:${manifest.version}`);
    expect(command[0]).toBe('node');
    expect(bundles).toContain(command.at(-1));
  }
  expect(copiesOf(image)).toContainEqual({
    from: 'bundle',
    sources: ['/source/dist'],
    target: './',
  });
});

test('the workflow builds the image that the Deployments name, from files that are there', () => {
  const { jobs } = parse(read('.github/workflows/kind.yaml')) as {
    jobs: { image: { steps: { name?: string; run?: string }[] } };
  };
  const commands = jobs.image.steps.map(({ run = '' }) => run).join('\n');
  const images = [...commands.matchAll(/karpenter-provider-unikraft:\S+/g)].map(([name]) => name);
  expect(new Set(images)).toEqual(new Set(containers.map((one) => one.image)));

  const paths = [...commands.matchAll(/kustomize\/\S+/g)].map(([path]) => path);
  expect(paths).toContain('kustomize/default');
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const names = deployments.map(({ metadata }) => metadata.name);
  expect(names.toSorted()).toEqual(['karpenter-unikraft-controller', 'karpenter-unikraft-webhook']);
  expect(commands).toContain('for name in controller webhook');
});
