import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import type { DaemonSet } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { describe, violations } from '#schemas/rules/evaluate.ts';
import { concernsUs } from '#schemas/rules/ours.ts';

const root = new URL('../', import.meta.url);

function objectsIn(file: string): KubeObject[] {
  const text = readFileSync(new URL(file, root), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

/** What the controllers of Kubernetes make of a workload. */
function withItsPod(object: KubeObject): KubeObject[] {
  const { template } = (object as DaemonSet).spec ?? {};
  if (!template || object.apiVersion !== 'apps/v1') return [object];
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'a',
    uid: 'a',
    controller: true,
  };
  const metadata = { ...template.metadata, ownerReferences: [owner] };
  return [object, { apiVersion: 'v1', kind: 'Pod', ...template, metadata }];
}

test('what people start from breaks no rule and gets no warning', () => {
  const files = globSync('kustomize/samples/**/*.yaml', { cwd: root });
  const objects = files.flatMap(objectsIn).flatMap(withItsPod);
  const ours = objects.filter(concernsUs);
  expect(new Set(ours.map(({ kind }) => kind))).toEqual(
    new Set(['UnikraftNodeClass', 'NodePool', 'Pod']),
  );
  const broken = ours.flatMap((object) => violations(object, { operation: 'CREATE' }));
  expect(broken.map(describe)).toEqual([]);
});
