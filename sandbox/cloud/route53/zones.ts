import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import { CloudError } from '../wire/service.ts';
import { applyBatch, canonical, type Change, emptyZone, type Records } from './zone.ts';

export interface HostedZone {
  readonly id: string;
  /** Canonical. */
  readonly name: string;
  /** What the API shows. */
  records: Records;
  /** What DNS answers: follows `records` after a while. */
  published: Records;
}

export interface ChangeInfo {
  readonly id: string;
  readonly submittedAt: string;
  readonly inSyncAt: Instant;
}

export interface Route53Timings {
  /** From an accepted change to its being answered by DNS, and to INSYNC. */
  readonly propagation: Duration;
}

/** The hosted zones of the account, their changes, and how these reach DNS. */
export class Zones {
  readonly #clock: Clock;
  readonly #timings: Route53Timings;
  readonly #zones = new Map<string, HostedZone>();
  readonly #changes = new Map<string, ChangeInfo>();
  #held = false;

  constructor(clock: Clock, timings: Route53Timings) {
    this.#clock = clock;
    this.#timings = timings;
  }

  /** Makes a zone, as a person does once before any machine. */
  create(name: string): HostedZone {
    const id = `Z0SANDBOX${String(this.#zones.size + 1).padStart(4, '0')}`;
    const records = emptyZone(canonical(name));
    const zone = { id, name: canonical(name), records, published: records };
    this.#zones.set(id, zone);
    return zone;
  }

  remove(id: string): void {
    this.#zones.delete(id);
  }

  get all(): readonly HostedZone[] {
    return [...this.#zones.values()];
  }

  /** Throws NoSuchHostedZone. */
  get(id: string): HostedZone {
    const zone = this.#zones.get(id);
    if (zone) return zone;
    throw new CloudError('NoSuchHostedZone', `No hosted zone found with ID: ${id}`, 404);
  }

  /** DNS answers nothing new until the returned function is called, as on a day when it propagates badly. */
  hold(): () => void {
    this.#held = true;
    return () => {
      this.#held = false;
      for (const zone of this.all) zone.published = zone.records;
    };
  }

  change(id: string, changes: readonly Change[]): ChangeInfo {
    const zone = this.get(id);
    zone.records = applyBatch(zone.name, zone.records, changes);
    const accepted = zone.records;
    const { propagation } = this.#timings;
    this.#clock.after(propagation, () => {
      if (!this.#held) zone.published = accepted;
    });
    const info = {
      id: `C0SANDBOX${String(this.#changes.size + 1).padStart(6, '0')}`,
      submittedAt: this.#clock.stamp(),
      inSyncAt: this.#clock.now() + propagation,
    };
    this.#changes.set(info.id, info);
    return info;
  }

  /** Throws NoSuchChange. */
  changeInfo(id: string): ChangeInfo {
    const info = this.#changes.get(id);
    if (info) return info;
    throw new CloudError('NoSuchChange', `Could not find resource with ID: ${id}`, 404);
  }

  isInSync({ inSyncAt }: ChangeInfo): boolean {
    return this.#clock.now() >= inSyncAt;
  }
}
