import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { RunnableContainer } from './pod-spec.ts';

/** One start of a container, as a program sees it: paths and ports are those of this computer. */
export interface RunningPod {
  readonly pod: Live<Pod>;
  readonly container: RunnableContainer;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where a path of the Pod lies here; paths that no volume is mounted at stay as they are. */
  path(podPath: string): string;
  /** Where this container's declared port is to be served on 127.0.0.1. */
  port(containerPort: number): number;
}

/**
 * A program of this computer. A list replaces the image's entrypoint and the container's command, and the
 * container's args follow; a function gives the whole command line from the container, whose command and args are
 * already translated.
 */
export interface LocalProgram {
  readonly command: readonly string[] | ((container: RunnableContainer) => readonly string[]);
  readonly cwd?: string;
  /** Beside what the Pod asks for, and weaker. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Code in this process, for tests. */
export interface InsideProgram {
  /** @returns the exit code; an error is exit code 1. It must end soon after the signal aborts. */
  run(pod: RunningPod, signal: AbortSignal): Promise<number | void>;
}

/** What stands for an image. */
export type Program = LocalProgram | InsideProgram;

/** By image as the Pod writes it, or by image without tag and digest. */
export type Programs = Readonly<Record<string, Program>>;

export function programFor(programs: Programs, image: string): Program | undefined {
  return programs[image] ?? programs[image.replace(/@.*$/, '').replace(/:[^/:]*$/, '')];
}
