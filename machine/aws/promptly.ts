import { type Duration, seconds } from '#schemas/time/clock.ts';

import { CloudUnreachable } from '../errors.ts';
import { until } from '../until.ts';

/** Metadata servers and STS answer within a second, or with repeats within some, or are away. */
const longest = seconds(20);

type Provider<Credentials> = (properties?: Record<string, unknown>) => Promise<Credentials>;

/**
 * Credentials that come in time, or not at all: an SDK client waits for those of a container for ever, and its calls'
 * signals and time limits do not reach its providers.
 *
 * @param make  makes a provider anew, as one that hangs is asked by all who come later, too
 * @returns a provider that throws CloudUnreachable when none came within `patience`: nothing was sent then
 */
export function promptly<Credentials>(
  make: () => Provider<Credentials>,
  patience: Duration = longest,
): Provider<Credentials> {
  let provider = make();
  return async (properties) => {
    const asked = provider;
    const limit = AbortSignal.timeout(patience);
    try {
      return await until(asked(properties), limit);
    } catch (error) {
      if (error !== limit.reason) throw error;
      if (provider === asked) provider = make();
      throw new CloudUnreachable(
        `No credentials have come within ${patience / seconds(1)} s from whoever gives the operator those of AWS`,
      );
    }
  };
}
