import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process for good: systems use a pid again, so a pid alone may name a stranger by the time it is signalled.
 */
export interface Identity {
  readonly pid: number;
  /** When it started: clock ticks since boot on Linux, milliseconds since 1970 elsewhere. */
  readonly started: string;
}

/** Who runs under `pid` now; undefined when nobody does, or only a zombie that waits to be collected. */
export function identityOf(pid: number): Identity | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isAlive(identity: Identity): boolean {
  return identityOf(identity.pid)?.started === identity.started;
}

/** `1234-567890`, for file names. */
export function identityText({ pid, started }: Identity): string {
  return `${pid}-${started}`;
}

/** The identity at the end of a file name; undefined when there is none. */
export function parseIdentity(text: string): Identity | undefined {
  const match = /(?:^|-)(\d+)-(\d+)$/.exec(text);
  return match?.[1] && match[2] ? { pid: Number(match[1]), started: match[2] } : undefined;
}

/**
 * Field 22 of /proc/PID/stat. The second field, the program's name in brackets, may hold spaces and brackets
 * itself, so counting starts behind the last bracket, where field 3 (the state) stands.
 *
 * Source: proc_pid_stat(5).
 */
function startedOnLinux(pid: number): string | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

function startedByPs(pid: number): string | undefined {
  const text = quietly(() =>
    execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }),
  );
  const [, state, date] = /^\s*(\S+)\s+(.+?)\s*$/.exec(text ?? '') ?? [];
  return state === undefined || date === undefined || state.startsWith('Z')
    ? undefined
    : String(Date.parse(date));
}

function quietly(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
