import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One rendering by Helm. */
export interface Rendering {
  readonly release: string;
  /** `oci://…`, `https://…` or a path. */
  readonly chart: string;
  readonly version: string | undefined;
  readonly namespace: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Renders a chart without asking any cluster. @throws HelmFailed with Helm's own words */
export interface Helm {
  template(rendering: Rendering, signal: AbortSignal): Promise<string>;
}

/** Helm ended with an error; the message is what it wrote to stderr, cut. */
export class HelmFailed extends Error {}

const maxOutput = 16 << 20;

/** What Helm may see of the operator's environment: proxies, registry logins, its own settings; no cloud credentials. */
const passedOn =
  /^(PATH|HOME|TMPDIR|DOCKER_CONFIG|HELM_.*|SSL_CERT_(FILE|DIR)|(HTTPS?|NO)_PROXY)$/i;

/** The real binary. Values go through a private file that is gone afterwards, since they hold a token. */
export class HelmBinary implements Helm {
  readonly #binary: string;

  /** @param binary  path, or a name on PATH */
  constructor(binary = 'helm') {
    this.#binary = binary;
  }

  async template(rendering: Rendering, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const directory = await mkdtemp(join(tmpdir(), 'kpu-helm-')); // mode 0700
    try {
      const file = join(directory, 'values.json'); // JSON is YAML
      await writeFile(file, JSON.stringify(rendering.values), { mode: 0o600 });
      return await this.#run(templateArguments(rendering, file), directory, signal);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async #run(args: readonly string[], directory: string, signal: AbortSignal): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(this.#binary, args, {
        signal,
        maxBuffer: maxOutput,
        env: environmentFor(directory),
      });
      return stdout;
    } catch (error) {
      signal.throwIfAborted();
      const { stderr, message } = error as { stderr?: string; message: string };
      throw new HelmFailed(words(stderr ?? '') || message.slice(0, 1000), { cause: error });
    }
  }
}

/** Helm first tells what it pulled, and warns; what went wrong begins with `Error:`. */
function words(stderr: string): string {
  const begin = Math.max(0, stderr.search(/^Error:/m));
  return stderr.slice(begin).trim().slice(0, 1000);
}

/** Everything after `--` is an operand, so that no chart's name is ever taken for an option. */
export function templateArguments(rendering: Rendering, valuesFile: string): string[] {
  const { release, chart, version, namespace } = rendering;
  return [
    'template',
    '--namespace',
    namespace,
    '--values',
    valuesFile,
    '--no-hooks',
    '--skip-tests',
    ...(version === undefined ? [] : ['--version', version]),
    '--',
    release,
    chart,
  ];
}

/** Helm's caches go where it may write, unless they were given a place. */
function environmentFor(directory: string): NodeJS.ProcessEnv {
  const given = Object.entries(process.env).filter(([name]) => passedOn.test(name));
  return {
    HELM_CACHE_HOME: join(directory, 'cache'),
    HELM_CONFIG_HOME: join(directory, 'config'),
    HELM_DATA_HOME: join(directory, 'data'),
    ...Object.fromEntries(given),
  };
}
