import { spawn } from 'node:child_process';

import { endingWithParent } from '../processes/parent-death.ts';

export interface GoOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  /** Each line of what it says on standard error, such as `go: downloading …`. */
  readonly onLine?: (line: string) => void;
}

export interface GoResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A go command that failed, with the end of what it said. */
export class GoFailed extends Error {
  override readonly name = 'GoFailed';

  constructor(args: readonly string[], { code, stderr }: GoResult) {
    const said = stderr.trimEnd().split('\n').slice(-20).join('\n');
    super(`go ${args.slice(0, 2).join(' ')} ended with ${code ?? 'a signal'}:\n${said}`);
  }
}

/**
 * Runs the go command with the user's own settings (proxy, caches), except GOFLAGS, which could unpin the
 * modules, and workspaces, which would.
 */
export async function go(args: readonly string[], options: GoOptions): Promise<GoResult> {
  const [program, ...rest] = endingWithParent(['go', ...args], options.env);
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: { ...options.env, GOFLAGS: '', GOWORK: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
    const line = text.trimEnd().split('\n').at(-1);
    if (line) options.onLine?.(line);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  return { code: await promise, ...output };
}

/** Like {@link go}, but throws {@link GoFailed} unless it ends with 0. */
export async function goOrThrow(args: readonly string[], options: GoOptions): Promise<string> {
  const result = await go(args, options);
  if (result.code !== 0) throw new GoFailed(args, result);
  return result.stdout;
}
