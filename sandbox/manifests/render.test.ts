import { expect, test } from 'vitest';

import { inOrder } from './order.ts';
import { BadManifest, parseManifests } from './render.ts';

const yaml = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
# nothing but a comment
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
`;

test('each document is an object; empty ones are none', () => {
  expect(parseManifests(yaml, 'shop.yaml').map(({ kind }) => kind)).toEqual([
    'Namespace',
    'Service',
  ]);
});

test('an object without a name is refused with its place', () => {
  const text = `${yaml}---\napiVersion: v1\nkind: Secret\n`;

  expect(() => parseManifests(text, 'shop.yaml')).toThrow(
    new BadManifest('shop.yaml, document 3: metadata.name is missing'),
  );
});

test('text that is no YAML is refused with its place', () => {
  expect(() => parseManifests('a: [1', 'broken.yaml')).toThrow(/^broken\.yaml: /);
  expect(() => parseManifests('just words', 'words.yaml')).toThrow(
    'words.yaml, document 1: apiVersion, kind, metadata.name is missing',
  );
});

test('kinds come before their objects, places before what is in them, judges last', () => {
  const kinds = [
    'ValidatingWebhookConfiguration',
    'UnikraftNodeClass',
    'Deployment',
    'ServiceAccount',
    'Namespace',
    'CustomResourceDefinition',
  ];
  const objects = kinds.map((kind) => ({ apiVersion: 'v1', kind, metadata: { name: kind } }));

  expect(inOrder(objects).map(({ kind }) => kind)).toEqual([
    'CustomResourceDefinition',
    'Namespace',
    'ServiceAccount',
    'UnikraftNodeClass',
    'Deployment',
    'ValidatingWebhookConfiguration',
  ]);
});
