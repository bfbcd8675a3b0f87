import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import { expand } from './environment.ts';
import { fieldValue } from './field-ref.ts';
import { programFor } from './program.ts';

test('$(NAME) is filled in, $$(NAME) is the text, and what is unknown stays', () => {
  const env = { HOST: 'a', PORT: '1' };

  expect(expand('$(HOST):$(PORT)', env)).toBe('a:1');
  expect(expand('$$(HOST)', env)).toBe('$(HOST)');
  expect(expand('$$$(HOST)', env)).toBe('$a');
  expect(expand('$(NONE) $HOST $(constructor)', env)).toBe('$(NONE) $HOST $(constructor)');
});

const pod: Live<Pod> = {
  metadata: {
    name: 'web-0',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    labels: { b: '2', a: 'say "1"' },
    annotations: { 'example.com/owner': 'me' },
  },
  spec: { containers: [], nodeName: 'host', serviceAccountName: 'shopkeeper' },
};

test('a Pod learns of itself by field', () => {
  const paths = ['metadata.name', 'spec.nodeName', 'status.podIP', "metadata.labels['b']"];

  expect(paths.map((path) => fieldValue(pod, path))).toEqual(['web-0', 'host', '127.0.0.1', '2']);
  expect(fieldValue(pod, "metadata.annotations['example.com/owner']")).toBe('me');
  expect(fieldValue(pod, "metadata.labels['none']")).toBe('');
  expect(fieldValue(pod, 'metadata.labels')).toBe('a="say \\"1\\""\nb="2"');
});

test('a field that is none is refused by name', () => {
  expect(() => fieldValue(pod, 'spec.containers')).toThrow(
    'fieldPath spec.containers is not one that a Pod can ask for',
  );
  expect(() => fieldValue(pod, 'constructor')).toThrow('not one that a Pod can ask for');
});

test('a program stands for its image, with or without tag and digest', () => {
  const exact = { command: ['exact'] };
  const any = { command: ['any'] };
  const programs = { 'registry:5000/app': any, 'registry:5000/app:2': exact };

  expect(programFor(programs, 'registry:5000/app:2')).toBe(exact);
  expect(programFor(programs, 'registry:5000/app:1')).toBe(any);
  expect(programFor(programs, 'registry:5000/app@sha256:00')).toBe(any);
  expect(programFor(programs, 'registry:5000/other:1')).toBeUndefined();
});
