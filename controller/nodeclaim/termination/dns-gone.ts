import type { EventRecorder } from '#kube/runtime/events.ts';
import type { NameLookup } from '#machine/dns/provider.ts';
import { MachineError, NodeClassError } from '#machine/errors.ts';
import { faults } from '#machine/faults.ts';
import { minutes, seconds, type Clock } from '#schemas/time/clock.ts';

import { coded } from '../../reason.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';

const ready = 'DNSReady';
const removed = 'Removed';
/** Somebody else was asked to remove them. */
const asked = 'RemovalAsked';
const left = 'RecordsLeft';

/** external-dns looks every minute and a resolver keeps what it heard for another one; once more for good measure. */
const patience = minutes(3);

export interface DnsGoneParts {
  readonly machines: Machines;
  readonly names: NameLookup;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
}

/**
 * The records go before the instance: its address may be given to another machine the moment it ends. Where somebody
 * else takes them away they are waited for, but not for ever: it may have been told never to remove anything.
 */
export class DnsGone implements Step {
  readonly #parts: DnsGoneParts;

  constructor(parts: DnsGoneParts) {
    this.#parts = parts;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (!hand.revision || !hand.mayHaveMachine) return done(); // never had an address to write
    const reason = hand.reasonOf(ready);
    if (reason === removed || reason === left) return done();
    if (reason !== asked) await this.#parts.machines.removeRecords(hand, signal).catch(zoneIsGone);
    const names = await this.#stillThere(hand, signal);
    if (names.length > 0 && !this.#isOverdue(hand)) return this.#wait(hand, names);
    if (names.length > 0) this.#giveUp(hand, names);
    else hand.set({ type: ready, status: 'False', reason: removed });
    return done();
  }

  /** Names that lead to the machine, for all we know. */
  async #stillThere(hand: ClaimInHand, signal: AbortSignal): Promise<string[]> {
    const records = await this.#parts.machines.lingering(hand, signal);
    const isThere = await Promise.all(
      records.map(async ({ name, address }) => {
        const addresses = await this.#parts.names.lookup(name, signal).catch(unanswered);
        return addresses?.includes(address) ?? true;
      }),
    );
    return records.filter((_, index) => isThere[index]).map(({ name }) => name);
  }

  #isOverdue(hand: ClaimInHand): boolean {
    if (hand.reasonOf(ready) !== asked) return false;
    const { clock } = this.#parts;
    return clock.now() - (hand.since(ready) ?? clock.now()) > patience;
  }

  #wait(hand: ClaimInHand, names: readonly string[]): Outcome {
    const message = `Waiting until external-dns has removed ${names.join(', ')}`;
    hand.set({ type: ready, status: 'False', reason: asked, message });
    return wait({ after: seconds(2), reason: asked, message });
  }

  #giveUp(hand: ClaimInHand, names: readonly string[]): void {
    const text = `${names.join(', ')} still lead to the machine, which is ended all the same`;
    const message = coded(text, 'KPU375');
    hand.set({ type: ready, status: 'False', reason: left, message });
    this.#parts.recorder.record({ object: hand.claim, type: 'Warning', reason: left, message });
  }
}

/** With the whole zone its records are gone too. */
function zoneIsGone(error: unknown): void {
  const isGone = error instanceof NodeClassError && error.reason === faults.zoneNotFound.reason;
  if (!isGone) throw error;
}

/** A server that is away proves nothing. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof MachineError)) throw error;
}
