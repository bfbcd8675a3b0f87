import { expect, test } from 'vitest';

import { diagnose, type Platform } from './diagnosis.ts';

const healthy: Platform = { says: 'healthy' };
const sick: Platform = { says: 'sick', why: 'images is degraded' };
const nothing: Platform = { says: 'nothing', why: 'ECONNREFUSED' };

test.each([
  [healthy, true, 'well'],
  [healthy, false, 'kraftlet-down'],
  [sick, true, 'machine-down'],
  [sick, false, 'machine-down'],
  [nothing, true, 'unseen'],
  [nothing, false, 'machine-down'],
] as const)('%o under a Node that is Ready: %s means %s', (platform, isReady, kind) => {
  expect(diagnose(platform, isReady).kind).toBe(kind);
});
