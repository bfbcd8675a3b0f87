import { type Clock, seconds } from '#schemas/time/clock.ts';

/** Says what is wrong; undefined when nothing is. Throwing says it too. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** Checks by name. Read anew for each answer, so that they can be added while the process runs. */
export type Checks = ReadonlyMap<string, Check>;

export type Findings = readonly { readonly name: string; readonly trouble: string | undefined }[];

/** Asks all checks at once. One that does not answer within two seconds has failed, before the probe's own timeout. */
export async function findingsOf(checks: Checks, clock: Clock): Promise<Findings> {
  return Promise.all(
    [...checks].map(async ([name, check]) => ({ name, trouble: await troubleOf(check, clock) })),
  );
}

async function troubleOf(check: Check, clock: Clock): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const cancel = clock.after(seconds(2), () => resolve('no answer within 2 s'));
  try {
    return await Promise.race([check(), promise]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cancel();
  }
}
