import { until } from '../until.ts';
import { ownedNames, type RecordSet } from './changes.ts';
import type { OwnedName } from './provider.ts';
import type { ZoneApi } from './zone-writer.ts';

/** A zone that its service lists in whole. */
export interface ListedZone extends ZoneApi {
  /** Every record set, or an error: a page that fails fails all. */
  everything(): Promise<readonly RecordSet[]>;
}

/**
 * The names in a zone that a cluster has marked as its own.
 *
 * @throws MachineError where the zone cannot be read to its end
 */
export async function ownedIn(
  zone: ListedZone,
  clusterUid: string,
  signal: AbortSignal,
): Promise<readonly OwnedName[]> {
  try {
    return ownedNames(await until(zone.everything(), signal), clusterUid);
  } catch (error) {
    signal.throwIfAborted();
    throw zone.toError(error, `Reading zone ${zone.id}`);
  }
}
