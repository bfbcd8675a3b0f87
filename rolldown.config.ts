import { readFileSync } from 'node:fs';

import { defineConfig } from 'rolldown';

const solverThread = 'controller/provisioning/thread/worker.ts';
/** What clouds sell, read when a node class asks for its cloud. */
const data = ['aws', 'gcp'].map((cloud) => `schemas/instances/data/${cloud}.jsonl`);

/** What the image runs: one file per process, and chunks for what both share or load only when a cloud asks for it. */
export default defineConfig({
  platform: 'node',
  // Of the two forms that packages come in, the one that what nobody imports can be left out of: EC2 has 700 calls.
  resolve: { mainFields: ['module', 'main'] },
  input: {
    'controller/main': 'controller/main.ts',
    'controller/solver-thread': solverThread,
    'webhook/main': 'webhook/main.ts',
    'cli/main': 'cli/main.ts',
  },
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
    // Node keeps the text of what it runs. Names stay, so that stacks can be read.
    // In ASCII it keeps one byte for each letter: a single letter beyond Latin-1 doubles a whole file.
    charset: 'ascii',
    minify: { compress: false, mangle: false, codegen: true },
    cleanDir: true,
  },
  plugins: [
    {
      name: 'package-json',
      generateBundle() {
        // A thread is started by its file, and data is read from its own; the controller asks for both by the names
        // that they have in the source.
        const imports = Object.fromEntries([
          [`#${solverThread}`, './controller/solver-thread.js'],
          ...data.map((path) => [`#${path}`, `./${path}`]),
        ]);
        for (const path of data) {
          const file = new URL(path, import.meta.url);
          this.emitFile({ type: 'asset', fileName: path, source: readFileSync(file) });
        }
        const source = JSON.stringify({ type: 'module', imports });
        this.emitFile({ type: 'asset', fileName: 'package.json', source });
      },
    },
  ],
});
