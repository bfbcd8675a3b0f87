import { createLogger } from '../log.ts';
import { installSignalHandlers } from './signals.ts';

/**
 * Runs a program until it ends, or until the process is asked to end and the program has. What it throws is the last
 * line of the log, and the exit code is 1: the process is started anew with a clean head.
 */
export async function runProcess(program: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const signal = installSignalHandlers();
  try {
    await program(signal);
    process.exitCode = 0;
  } catch (error) {
    createLogger({ level: 'error', name: 'process' }).error({ err: error }, 'the process ends');
    process.exitCode = 1;
  }
  // Connections that are kept open, and timers of libraries, must not keep an ended process alive.
  setTimeout(() => process.exit(), 1000).unref();
}
