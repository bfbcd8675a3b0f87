import type { Clock, Duration } from './clock.ts';

/** {@link Clock.sleep} in terms of {@link Clock.after}: an abort takes the timer back and is the rejection. */
export async function sleepOn(
  clock: Pick<Clock, 'after'>,
  duration: Duration,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = clock.after(duration, resolve);
  const abort = (): void => {
    cancel();
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  await promise.finally(() => signal?.removeEventListener('abort', abort));
}
