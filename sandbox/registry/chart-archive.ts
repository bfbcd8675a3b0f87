import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A chart's folder as the archive that a registry holds, made by Helm itself.
 *
 * @param version  instead of the one in Chart.yaml
 */
export async function chartArchive(helm: string, folder: string, version: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'kpu-chart-'));
  try {
    const args = ['package', folder, '--version', version, '--destination', directory];
    await promisify(execFile)(helm, args);
    const [file = ''] = await readdir(directory);
    return await readFile(join(directory, file));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
