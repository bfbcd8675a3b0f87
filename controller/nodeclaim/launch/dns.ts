import type { AddressRecord, NameLookup } from '#machine/dns/provider.ts';
import { minutes, seconds, type Clock } from '#schemas/time/clock.ts';

import { coded } from '../../reason.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';

const written = 'WaitingForPropagation';
const late = 'NamesDoNotResolve';

/** Route 53 says that all its servers know a change within 60 s, and external-dns looks every minute. */
const patience = minutes(1) + seconds(15);

interface Seen {
  readonly record: AddressRecord;
  readonly addresses: readonly string[];
}

/**
 * The machine's names must resolve to its address, at the servers the operator asks, before anybody is told them:
 * a resolver that once cached their absence would hide them for the zone's negative TTL.
 *
 * Names that do not come are written again, since somebody may have changed or removed them.
 */
export class Dns implements Step {
  readonly condition = 'DNSReady';
  readonly #machines: Machines;
  readonly #names: NameLookup;
  readonly #clock: Clock;

  constructor(machines: Machines, names: NameLookup, clock: Clock) {
    this.#machines = machines;
    this.#names = names;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const records = this.#machines.records(hand);
    if (records.length === 0) return done();
    const isLate = this.#isLate(hand);
    if (isLate || hand.reasonOf(this.condition) !== written) {
      await this.#machines.writeRecords(hand, signal);
    }
    const seen = await Promise.all(
      records.map(async (record) => {
        return { record, addresses: await this.#names.lookup(record.name, signal) };
      }),
    );
    const missing = seen.filter(({ record, addresses }) => !addresses.includes(record.address));
    if (missing.length === 0) return done();
    if (isLate) return this.#late(hand, missing, signal);
    const message = `Waiting until ${missing.map(({ record }) => record.name).join(', ')} resolves`;
    return wait({ after: seconds(1), reason: written, message });
  }

  #isLate(hand: ClaimInHand): boolean {
    const since = hand.since('InstanceRunning');
    return since !== undefined && this.#clock.now() - since > patience;
  }

  async #late(hand: ClaimInHand, missing: readonly Seen[], signal: AbortSignal): Promise<Outcome> {
    const hindrance = await this.#machines.hindrance(hand, signal);
    const told = [
      missing.map(whereItLeads).join(', '),
      ...(await this.#remembered(missing, signal)),
      ...(hindrance === undefined ? [] : [hindrance]),
    ];
    const message = coded(told.join('; '), 'KPU374');
    return wait({ after: seconds(10), reason: late, message, failed: true });
  }

  /** A server that was asked before the name was there may hide it for the zone's negative TTL. */
  async #remembered(missing: readonly Seen[], signal: AbortSignal): Promise<string[]> {
    const absent = missing.find(({ addresses }) => addresses.length === 0);
    if (!absent) return [];
    const left = await this.#names.absence?.(absent.record.name, signal);
    if (!left) return [];
    const most = Math.ceil(left / minutes(1)); // it is counted down, and each new message is a write
    return [`servers that were asked may remember for ${most} min that it was not there`];
  }
}

function whereItLeads({ record, addresses }: Seen): string {
  const where = addresses.length === 0 ? 'nothing' : addresses.join(' and ');
  return `${record.name} resolves to ${where}, and not to ${record.address}`;
}
