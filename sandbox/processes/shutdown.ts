const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Calls `stop` once when this process is told to end (SIGINT, SIGTERM, SIGHUP) or its parent is gone, then exits
 * with the code a shell expects. A second signal while stopping is ignored: half a clean-up helps nobody.
 *
 * @returns takes the handlers back, for when the work ended by itself
 */
export function onShutdown(stop: (why: string) => Promise<void>): () => void {
  let stopping = false;
  const end = async (why: string, code: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    try {
      await stop(why);
    } finally {
      process.exit(code);
    }
  };
  const handlers = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const handler = (): void => void end(signal, code);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) void end('parent gone', EXIT_CODES.SIGTERM);
  }, 500);
  watch.unref();
  return () => {
    clearInterval(watch);
    for (const remove of handlers) remove();
  };
}
