import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { ensureBind, MissingBind } from './bind.ts';

const quiet = {
  say: () => {},
  step: async <T>(_: string, work: (note: () => void) => Promise<T>) => work(() => {}),
};
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bind-'));
});
afterEach(async () => rm(folder, { recursive: true }));

test('without apt-get it is said plainly what is missing and what to do', async () => {
  const env = { PATH: folder, HOME: folder };
  await expect(ensureBind(quiet, env)).rejects.toThrow(MissingBind);
  await expect(ensureBind(quiet, env)).rejects.toThrow(
    /there is no apt-get\. Install Debian's packages bind9 and bind9-dnsutils/,
  );
});
