import { expect, test } from 'vitest';

import type { RunnableContainer } from '../host-node/pod-spec.ts';
import type { LocalProgram } from '../host-node/program.ts';
import { programs } from './programs.ts';

const container = {
  name: 'webhook',
  command: ['node', '--no-maglev', 'webhook/main.js'],
  args: ['x'],
};

/** The command line, and where it is run. */
function started(app?: string): readonly [readonly string[], string | undefined] {
  const all = programs({ cloudEnv: {}, dnsServer: '', helm: '', ...(app && { app }) });
  const { command, cwd } = all['karpenter-provider-unikraft'] as LocalProgram;
  if (typeof command !== 'function') throw new Error('the command is the same for all containers');
  return [command(container as unknown as RunnableContainer), cwd];
}

test('the bundles are run as the Deployment says, where they are; the sources with the same flags', () => {
  const [bundled, there] = started('/run/app');
  expect(bundled).toEqual([process.execPath, '--no-maglev', 'webhook/main.js', 'x']);
  expect(there).toBe('/run/app');

  const [plain, here] = started();
  expect(plain).toEqual([process.execPath, '--no-maglev', 'webhook/main.ts', 'x']);
  expect(import.meta.filename.startsWith(here ?? '-')).toBe(true);
});
