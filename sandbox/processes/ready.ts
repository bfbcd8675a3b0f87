import { milliseconds, seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import { describeExit, type LocalProcess } from './local-process.ts';
import { PortTaken, saysPortTaken } from './ports.ts';

/** A program that ended, or never answered, while it was waited for; the message has the end of its log. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

export interface ReadyOptions {
  readonly clock: Clock;
  readonly within?: Duration;
  readonly signal?: AbortSignal;
}

/**
 * Asks `isReady` ten times a second until it says yes; a check that throws counts as no.
 *
 * @throws PortTaken when the program ended since another one has its port, so that the caller takes another
 * @throws NotReady when it ended otherwise, or is not ready `within` (default 60 s)
 */
export async function untilReady(
  process: LocalProcess,
  isReady: () => Promise<boolean>,
  { clock, within = seconds(60), signal }: ReadyOptions,
): Promise<void> {
  const end = clock.now() + within;
  while (!(await isReady().catch(() => false))) {
    if (process.exit) throw await failure(process, describeExit(process.exit));
    if (clock.now() >= end) throw await failure(process, `not ready after ${within / 1000} s`);
    await clock.sleep(milliseconds(100), signal);
  }
}

async function failure(process: LocalProcess, why: string): Promise<Error> {
  const log = await process.lastLines(20);
  const message = `${process.name}: ${why}\n${log}`;
  return process.exit && saysPortTaken(log) ? new PortTaken(message) : new NotReady(message);
}
