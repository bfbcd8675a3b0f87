import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import type { Report } from '#sandbox/story/report.ts';
import { minutes } from '#schemas/time/clock.ts';

/** As `npm run sandbox -- --once --json` does it: every program a process, everything as kustomize/ says. */
async function play(): Promise<{ report: Report; told: string }> {
  const command = ['sandbox/main.ts', '--once', '--json'];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command);
  const lastLine = stdout.trimEnd().split('\n').at(-1) ?? '';
  return { report: JSON.parse(lastLine) as Report, told: stderr };
}

test(
  'the sandbox plays its story: every Pod runs, and nothing is left behind',
  async () => {
    const { report, told } = await play();

    expect(report.bars.filter(({ ok }) => !ok)).toEqual([]);
    expect(report).toMatchObject({ name: 'sandbox', ok: true, pods: { wanted: 14, ran: 14 } });
    expect(new Set(Object.values(report.leaks))).toEqual(new Set([0]));
    expect(new Set(report.claims.map(({ nodepool }) => nodepool))).toEqual(
      new Set(['web', 'batch']),
    );
    for (const { steps } of report.claims) {
      expect(steps.at(-1)?.step).toBe('gone');
      expect(orderOf(steps, 'healthy')).toBeLessThan(orderOf(steps, 'node'));
    }
    expect(told).toContain('Every Pod ran, and nothing is left behind');
  },
  minutes(5),
);

function orderOf(steps: Report['claims'][number]['steps'], wanted: string): number {
  return steps.findIndex(({ step }) => step === wanted);
}
