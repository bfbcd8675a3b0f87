import { plainName } from './changes.ts';
import type { DnsProvider } from './provider.ts';

/** Names that are written nowhere: there is nothing to prove, to write or to remove. */
export const noDns: DnsProvider = {
  resolveZone: async (zone) => plainName(zone),
  upsert: async () => {},
  remove: async () => {},
};
