import { expect, test } from 'vitest';

import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { annotations } from '#schemas/names.ts';

import { keptPod } from '../kept-pod.ts';
import { guardDropped } from './dropped-fields.ts';

const whole: Pod = {
  metadata: {
    name: 'web',
    annotations: { 'example.com/size': '7', [annotations.doNotDisrupt]: 'true' },
  },
  spec: {
    containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 80 }] }],
    hostAliases: [],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  },
  status: { phase: 'Running', podIP: '10.0.0.1', startTime: '' },
};

test('what is not kept cannot be read, and nobody else sees a difference', () => {
  const reader = new ShapeReader(keptPod);
  for (const kept of [reader.fromJson(whole), reader.fromJson(whole)]) {
    guardDropped(keptPod, kept, whole);
    expect(() => kept.status?.podIP).toThrow('it.status.podIP is read, and the cache does not');
    expect(() => kept.spec?.containers[0]?.image).toThrow('it.spec.containers[0].image');
    expect(() => kept.metadata?.annotations?.['example.com/size']).toThrow('example.com/size');
    expect(kept).toStrictEqual(new ShapeReader(keptPod).fromJson(whole));
    expect({ ...kept.status }).toStrictEqual({ phase: 'Running' });
  }
});

test('what is kept may be read where nothing is left of it, and so may what was not there', () => {
  const kept = new ShapeReader(keptPod).fromJson(whole);
  guardDropped(keptPod, kept, whole);
  expect(kept.spec?.volumes).toBeUndefined();
  expect(kept.spec?.containers[0]?.ports).toBeUndefined();
  expect(kept.spec?.hostAliases).toBeUndefined();
  expect(kept.status?.startTime).toBeUndefined();
});
