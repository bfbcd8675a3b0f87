import { expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { hooks } from './hooks.ts';
import { admissionServer } from './server.ts';
import { fuzz } from './testing/fuzz.ts';
import { Served } from './testing/served.ts';

test('A2, A11: whatever bytes come, each answer is a refusal of the caller or a review, and the server lives', async () => {
  const clock = new SystemClock();
  const metrics = new Metrics();
  const usual = hooks({ excludedNamespaces: [] });
  const app = admissionServer({ log: silentLogger, metrics, clock, hooks: usual });
  await using served = await Served.start(app);
  const calls = { left: 400 };

  const report = await fuzz(served, { seed: 4, until: () => calls.left-- <= 0 });

  expect(report.odd).toEqual([]);
  expect(report.lives).toBe(true);
  expect(report.answers['200']).toBeGreaterThan(50);
  expect(report.answers['400']).toBeGreaterThan(50);
  expect(await metrics.text()).not.toMatch(/failures_total\{[^}]*status="5/);
  expect(await metrics.text()).toContain('karpenter_unikraft_webhook_calls 0');
}, 60_000);
