/** The part of `process` that is needed here. */
export interface SignalTarget {
  on(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
  exit(code: number): void;
}

type EndSignal = 'SIGTERM' | 'SIGINT';

const codes: Readonly<Record<EndSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * A signal that aborts when the process is asked to end. Asked a second time, as by an impatient Ctrl-C, the process
 * ends at once.
 */
export function installSignalHandlers(target: SignalTarget = process): AbortSignal {
  const end = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    target.on(name, (signal) => {
      if (end.signal.aborted) target.exit(codes[signal]);
      end.abort(new Error(`the process received ${signal}`));
    });
  }
  return end.signal;
}
