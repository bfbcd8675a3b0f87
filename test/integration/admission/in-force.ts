import { vi } from 'vitest';

import { isInvalid } from '#kube/client/errors.ts';

const within = { timeout: 60_000, interval: 250 };

/** Policies come into force, and go out of it, a moment after they are written. */
export async function untilRefused(write: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(async () => {
    const error: unknown = await write().catch((reason: unknown) => reason);
    if (!isInvalid(error)) throw new Error('it still passes', { cause: error });
  }, within);
}

export async function untilPassed(write: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(write, within);
}
