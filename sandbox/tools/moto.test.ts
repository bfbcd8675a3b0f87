import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { ensureMoto, MissingPython } from './moto.ts';

const quiet = {
  say: () => {},
  step: async <T>(_: string, work: (note: () => void) => Promise<T>) => work(() => {}),
};
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'moto-'));
});
afterEach(async () => rm(folder, { recursive: true }));

test('without Python it is said plainly what is missing and what to do', async () => {
  const env = { PATH: folder, HOME: folder };
  await expect(ensureMoto(quiet, env)).rejects.toThrow(MissingPython);
  await expect(ensureMoto(quiet, env)).rejects.toThrow(
    /there is no python3 on PATH\. Install Python 3\.10 or newer with its venv module/,
  );
});
