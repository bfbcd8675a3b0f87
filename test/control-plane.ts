import type { TestProject } from 'vitest/node';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTools, type Tools } from '#sandbox/tools/tools.ts';
/**
 * What every integration test needs before it can start a control plane: the pinned programs, built once. Missing
 * programs fail the run and are never a reason to skip tests.
 */
import { SystemClock } from '#schemas/time/system-clock.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** For `inject('tools')` in a test. */
    tools: Tools;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const progress = new ScreenProgress(process.stderr, new SystemClock());
  project.provide('tools', await ensureTools(progress));
}
