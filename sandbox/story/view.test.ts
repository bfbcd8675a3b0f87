import { expect, test } from 'vitest';

import type { ClaimStory } from './timeline.ts';
import { draw, stepsOf } from './view.ts';

const claim: ClaimStory = {
  name: 'web-x2k4f',
  nodepool: 'web',
  instanceType: 'm7i.xlarge',
  zone: 'eu-central-1a',
  steps: [
    { step: 'certificate', ms: 400 },
    { step: 'created', ms: 400 },
    { step: 'running', ms: 2500 },
  ],
  waiting: 'Waiting until api.web-x2k4f.machines.sandbox.test resolves',
  leaving: false,
  gone: false,
  seenAt: 0,
};
const plain = { colour: false, width: 150 };
const workloads = [{ name: 'web', wanted: 12, running: 9, waiting: 3 }];

test('steps that were written together are told by the last of them', () => {
  expect(stepsOf(claim)).toBe('created 0.4s  running 2.1s');
});

test('the picture shows what runs, what waits and how far each machine is', () => {
  expect(draw({ title: 'sandbox', chapter: 'Growing', workloads, claims: [claim] }, plain)).toEqual(
    [
      'sandbox',
      '',
      '  Growing',
      '',
      'Pods      web      ███████████████░░░░░ 9/12 running   3 waiting',
      '',
      'Machines  web-x2k4f  m7i.xlarge  1a  created 0.4s  running 2.1s  Waiting until api.web-x2k4f.machines.sandbox.test resolves',
    ],
  );
});

test('machines that are gone are not shown, and more than fit are counted', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({ ...claim, name: `web-${index}` }));
  const lines = draw(
    { title: 't', chapter: 'c', workloads: [], claims: [{ ...claim, gone: true }, ...many] },
    plain,
  );
  expect(lines).toContain('          … and 6 more machines');
  expect(lines.join('\n')).not.toContain('  web-x2k4f  ');
});

test('where there is little room the state stays and the oldest steps go', () => {
  const [, , , , , , line] = draw(
    { title: 't', chapter: 'c', workloads, claims: [{ ...claim, waiting: 'Waiting for DNS' }] },
    { colour: false, width: 72 },
  );
  expect(line).toBe('Machines  web-x2k4f  m7i.xlarge  1a  running 2.1s  Waiting for DNS');
});
