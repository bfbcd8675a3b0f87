/**
 * The launcher every npm script goes through. Plain JavaScript, so that any Node from 20 on can start it.
 *
 * It does three things that npm does not: it installs what package-lock.json asks for when node_modules
 * does not match, it runs the program with the project's own Node 24, and it ends the program when npm is
 * ended (npm passes SIGTERM to its shell only, which would leave the program behind as an orphan).
 *
 * Usage: node scripts/run.js <file.ts | program of node_modules/.bin> [arguments]
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = resolve(root, 'node_modules/.bin');
const OLDEST_NODE = 24;

const packagesOf = (file) => JSON.parse(readFileSync(resolve(root, file), 'utf8')).packages;

const installed = existsSync(resolve(root, 'node_modules/.package-lock.json'));

function isStale() {
  if (!installed) return true;
  const have = packagesOf('node_modules/.package-lock.json');
  return Object.entries(packagesOf('package-lock.json')).some(
    ([path, { version, optional }]) => path !== '' && !optional && have[path]?.version !== version,
  );
}

if (isStale()) {
  const why = installed ? 'they do not match package-lock.json' : 'they are not installed yet';
  console.error(`npm packages: ${why}, so npm ci, about 30 s ...`);
  execFileSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
}

const own = existsSync(`${bin}/node`);
if (!own && Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  console.error(
    `Node ${process.version} is too old and node-linux-* is not installed; use Node 24.12 or newer.`,
  );
  process.exit(1);
}

const [what, ...args] = process.argv.slice(2);
const child = spawn(
  own ? `${bin}/node` : process.execPath,
  [existsSync(what) ? what : `${bin}/${what}`, ...args],
  { stdio: 'inherit', env: { ...process.env, PATH: bin + delimiter + process.env.PATH } },
);

const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  child.kill('SIGTERM');
}, 500);
process.on('SIGINT', () => {}); // Ctrl-C reaches the whole process group, the child too
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
