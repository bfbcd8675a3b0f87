import { ApiError } from '#kube/client/errors.ts';
import { Limiter } from '#machine/kraftlet/limiter.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Context } from '../../context.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { isOurs } from '../../ours.ts';
import { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { ClaimWriter } from '../steps/claim-writer.ts';
import { machineDown, tellDiagnosis } from './conditions.ts';
import type { Examination, Patient } from './examination.ts';
import type { KraftletRepair } from './kraftlet-repair.ts';
import type { Replacement } from './replacement.ts';

/** Machines that are asked at once: each is a connection, and one that is silent takes five seconds. */
const atOnce = 50;
/** Releases that are repaired at once: a host that dies may take a hundred Kraftlets along. */
const repairsAtOnce = 10;
/** A Node needs a moment to be Ready once it is open. */
const settled = minutes(1);

export interface RepairParts {
  readonly revisions: Pick<Revisions, 'get'>;
  readonly writer: ClaimWriter;
  readonly examination: Examination;
  readonly kraftlets: KraftletRepair;
  readonly replacement: Replacement;
}

/**
 * Looks after machines whose Nodes were opened: tells a machine that is down from a Kraftlet that is, says so on the
 * claim, repairs the Kraftlet's release and replaces the machine. Kraftlet down is not machine down: its guests run on.
 *
 * All that is known between two rounds stands in the claim's conditions, so a restart loses nothing.
 */
export class Repair {
  readonly #context: Context;
  readonly #parts: RepairParts;
  readonly #limiter = new Limiter(atOnce);
  readonly #repairs = new Limiter(repairsAtOnce);

  constructor(context: Context, parts: RepairParts) {
    this.#context = context;
    this.#parts = parts;
  }

  async look(signal: AbortSignal): Promise<void> {
    const examined = this.#inPractice().map(async (hand) =>
      this.#limiter.run(
        async () => this.#safely(hand, async () => this.#examine(hand, signal)),
        signal,
      ),
    );
    const patients = (await Promise.all(examined)).filter((one) => one !== undefined);
    const { kraftlets, replacement } = this.#parts;
    for (const due of replacement.due(patients)) {
      // oxlint-disable-next-line no-await-in-loop -- each one uses up what the budgets allow the next
      await this.#safely(due.hand, async () => replacement.replace(due));
    }
    const repairs = patients
      .filter(({ diagnosis }) => diagnosis.kind === 'kraftlet-down')
      .map(async (one) => {
        const repair = async (): Promise<void> => kraftlets.repair(one, signal);
        return this.#repairs.run(async () => this.#safely(one.hand, repair), signal);
      });
    await Promise.all(repairs);
  }

  /** Claims that stay, whose Node has been open for a while, and of which the revision is known. */
  #inPractice(): ClaimInHand[] {
    const { caches, clock, clusterUid } = this.#context;
    const staying = caches.nodeClaims
      .list()
      .filter((claim) => isOurs(claim) && claim.metadata.deletionTimestamp === undefined);
    return staying
      .map((claim) => new ClaimInHand(claim, this.#revisionOf(claim), clusterUid, clock))
      .filter((hand) => {
        const open = hand.is('Registered') ? (hand.since('Registered') ?? Infinity) : Infinity;
        return hand.revision !== undefined && clock.now() - open > settled;
      });
  }

  #revisionOf({ metadata }: Live<NodeClaim>): ClaimInHand['revision'] {
    const name = metadata.annotations?.[annotations.revision];
    const nodeClass = name === undefined ? undefined : this.#parts.revisions.get(name);
    return name === undefined || !nodeClass ? undefined : { name, nodeClass };
  }

  async #examine(hand: ClaimInHand, signal: AbortSignal): Promise<Patient | undefined> {
    const patient = await this.#parts.examination.of(hand, signal);
    if (!patient) return undefined;
    const { diagnosis } = patient;
    if (diagnosis.kind === 'unseen') {
      const facts = { nodeClaim: hand.identity.claim, why: diagnosis.why };
      this.#context.log.warn(facts, 'a machine that its Kraftlet reaches does not answer here');
    }
    const { kraftlets, replacement, writer } = this.#parts;
    const wasDown = hand.is(machineDown);
    const notes = tellDiagnosis(hand, diagnosis, kraftlets.trouble(patient));
    if (notes.length > 0) await writer.status(hand);
    if (wasDown && !hand.is(machineDown)) await replacement.unbound(hand);
    for (const note of notes) this.#context.recorder.record(note);
    return patient;
  }

  /** One claim that cannot be written, or has changed meanwhile, must not keep the others from being looked at. */
  async #safely<T>({ identity }: ClaimInHand, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const facts = { nodeClaim: identity.claim, err: error };
      this.#context.log.warn(
        facts,
        'cannot look after a machine now; it is tried again in a minute',
      );
      return undefined;
    }
  }
}
