/**
 * `npm run check`: everything that can be judged without running the product. Each check runs even when an
 * earlier one failed, so that one run shows all there is to mend.
 */
import { spawnSync } from 'node:child_process';

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', 'tsc'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check'],
  ['unused', 'knip'],
  ['generated files', 'node', 'scripts/generate.ts', '--check'],
];

const failed = checks.filter(([name, command, ...args]) => {
  console.log(`check: ${name}`);
  return spawnSync(command, args, { stdio: 'inherit' }).status !== 0;
});

console.log(
  failed.length === 0
    ? `check: all ${checks.length} passed`
    : `check: failed: ${failed.map(([name]) => name).join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
