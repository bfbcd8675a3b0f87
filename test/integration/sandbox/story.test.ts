import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import type { Report } from '#sandbox/story/report.ts';
import { type CloudName, cloudNames } from '#schemas/instances/cloud.ts';
import { minutes } from '#schemas/time/clock.ts';

interface Played {
  readonly report: Report;
  readonly told: string;
}

/** As `npm run sandbox -- --once --json` does it: every program a process, everything as kustomize/ says. */
async function play(cloud: CloudName, ...more: readonly string[]): Promise<Played> {
  const command = ['sandbox/main.ts', '--once', '--json', '--cloud', cloud, ...more];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command);
  const lastLine = stdout.trimEnd().split('\n').at(-1) ?? '';
  return { report: JSON.parse(lastLine) as Report, told: stderr };
}

test.for(cloudNames)(
  'the sandbox plays its story on %s: every Pod runs, and nothing is left behind',
  { timeout: minutes(5) },
  async (cloud) => {
    const played = await play(cloud);

    expectWhole(played);
    const zone = { aws: 'eu-central-1', gcp: 'europe-west1-' }[cloud];
    expect(played.told).toMatch(new RegExp(`machine web-\\w+ \\(\\S+ ${zone}`));
  },
);

test('the very bundles that the image runs play it too', { timeout: minutes(5) }, async () => {
  const played = await play('aws', '--dist');

  expectWhole(played);
  expect(played.told).toContain('Bundling controller and webhook');
});

function expectWhole({ report, told }: Played): void {
  expect(report.bars.filter(({ ok }) => !ok)).toEqual([]);
  expect(report).toMatchObject({ name: 'sandbox', ok: true, pods: { wanted: 14, ran: 14 } });
  expect(new Set(Object.values(report.leaks))).toEqual(new Set([0]));
  expect(new Set(report.claims.map(({ nodepool }) => nodepool))).toEqual(new Set(['web', 'batch']));
  for (const { steps } of report.claims) {
    expect(steps.at(-1)?.step).toBe('gone');
    expect(orderOf(steps, 'healthy')).toBeLessThan(orderOf(steps, 'node'));
  }
  expect(told).toContain('Every Pod ran, and nothing is left behind');
}

function orderOf(steps: Report['claims'][number]['steps'], wanted: string): number {
  return steps.findIndex(({ step }) => step === wanted);
}
