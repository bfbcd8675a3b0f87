import type { Duration } from '#schemas/time/clock.ts';

/** One address record of one machine. */
export interface AddressRecord {
  readonly name: string;
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Whose records these are; written beside them so that nobody's else are ever touched. */
export interface RecordOwner {
  readonly clusterUid: string;
  readonly claimUid: string;
}

/** The claim that holds them by name too: where ownership is that of an object, it is told both. */
export interface RecordHolder extends RecordOwner {
  readonly claim: string;
}

/** A name that a cluster holds in a zone. */
export interface OwnedName {
  readonly name: string;
  readonly owner: RecordOwner;
  /** What it reads; nothing where only the ownership is left. */
  readonly addresses: readonly string[];
}

/**
 * Writes names of machines into a zone. Record and ownership record go in one atomic change. A name that exists
 * without our ownership is never overwritten: {@link DnsConflict}.
 */
export interface DnsProvider {
  /** Somebody else writes what was asked for, some time later: names that were removed may still lead to the machine. */
  readonly isDelegated?: boolean;
  /** The zone's id, proven to exist and to be writable by us; throws NodeClassError with code for DNSReady. */
  resolveZone(zone: string, zoneID: string | undefined, signal: AbortSignal): Promise<string>;
  /** Makes each record read exactly so; does nothing when they do already. */
  upsert(
    zoneID: string,
    records: readonly AddressRecord[],
    owner: RecordHolder,
    signal: AbortSignal,
  ): Promise<void>;
  /** Removes every one of these names that this owner holds; names of others are left alone. */
  remove(
    zoneID: string,
    names: readonly string[],
    owner: RecordOwner,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Puts a text beside whatever other texts the name has, such as a challenge of ACME, which several certificates may
   * have at one name; does nothing when it is there already. Absent where only addresses are written.
   *
   * @param text  without quotation marks; letters, digits and `-_=` alone
   * @throws DnsConflict where the name is a CNAME
   */
  addText?(zoneID: string, name: string, text: string, signal: AbortSignal): Promise<void>;
  /** Takes one text away and leaves the others; does nothing when it is not there. */
  removeText?(zoneID: string, name: string, text: string, signal: AbortSignal): Promise<void>;
  /** Why names that were written are not there yet, for a person; absent where nothing is known of that. */
  hindrance?(owner: RecordHolder, signal: AbortSignal): Promise<string>;
  /**
   * Every name in the zone that the cluster has marked as its own; the whole zone is read for it. Absent where a zone
   * cannot be listed.
   *
   * @throws MachineError where anything could be missing
   */
  owned?(zoneID: string, clusterUid: string, signal: AbortSignal): Promise<readonly OwnedName[]>;
}

/** Looks names up where the world does, at the servers the operator was given. */
export interface NameLookup {
  /** Addresses of a name; empty when it does not exist (yet). */
  lookup(name: string, signal: AbortSignal): Promise<readonly string[]>;
  /** How long the servers may go on saying that a name is not there; undefined where they do not say. */
  absence?(name: string, signal: AbortSignal): Promise<Duration | undefined>;
}
