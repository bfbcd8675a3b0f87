import type { EventNote } from '#kube/runtime/events.ts';

import { coded } from '../../reason.ts';
import type { Trouble } from '../kraftlet/pod-trouble.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Conditions that only a claim in trouble has; they turn False when it is over. */
export const machineDown = 'MachineDown';
export const kraftletDown = 'KraftletDown';

interface Told extends Trouble {
  readonly type: typeof machineDown | typeof kraftletDown;
}

/**
 * Says in the draft of the claim's status what it suffers from, and what it has got over.
 *
 * What stays the same is not said again in other words, so that a trouble costs one write however long it lasts.
 *
 * @param kraftlet  what is the matter with a Kraftlet that is down
 * @returns the events to go with the write; none: there is nothing to write
 */
export function tellDiagnosis(
  hand: ClaimInHand,
  diagnosis: Diagnosis,
  kraftlet: Trouble,
): EventNote[] {
  const trouble = troubleOf(diagnosis, kraftlet);
  const begun = trouble && isNews(hand, trouble) ? [begin(hand, trouble)] : [];
  const over = [machineDown, kraftletDown].filter(
    (type) => hand.is(type) && type !== trouble?.type,
  );
  return [...begun, ...over.map((type) => end(hand, type))];
}

function troubleOf(diagnosis: Diagnosis, kraftlet: Omit<Trouble, 'type'>): Told | undefined {
  if (diagnosis.kind === 'kraftlet-down') return { type: kraftletDown, ...kraftlet };
  if (diagnosis.kind !== 'machine-down') return undefined;
  const reason = diagnosis.how === 'silent' ? 'PlatformSilent' : 'PlatformSick';
  return { type: machineDown, reason, message: coded(diagnosis.why, 'KPU380') };
}

function isNews(hand: ClaimInHand, { type, reason }: Told): boolean {
  return !hand.is(type) || hand.reasonOf(type) !== reason;
}

function begin(hand: ClaimInHand, { type, reason, message }: Told): EventNote {
  hand.set({ type, status: 'True', reason, message });
  return { object: hand.claim, type: 'Warning', reason: type, message };
}

function end(hand: ClaimInHand, type: string): EventNote {
  hand.set({ type, status: 'False', reason: 'Recovered' });
  const who = type === machineDown ? 'The machine' : 'Kraftlet';
  const reason = type === machineDown ? 'MachineRecovered' : 'KraftletRecovered';
  const message = `${who} of Node ${hand.status.nodeName} is well again`;
  return { object: hand.claim, type: 'Normal', reason, message };
}
