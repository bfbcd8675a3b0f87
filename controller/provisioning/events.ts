import { ApiError } from '#kube/client/errors.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import type { Plan, Refusal } from '#scheduling/solver.ts';
import type { Code } from '#schemas/errors/codes.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import { minutes } from '#schemas/time/clock.ts';

import { coded } from '../reason.ts';
import { limitText, type LimitState } from './limit-states.ts';
import { noInstanceTypes } from './misfits.ts';
import { longest, noMachineText } from './no-machine-text.ts';
import type { SkippedPool } from './pools-in-sight.ts';
import { isAimed } from './provisionable.ts';
import { asideText, type PodAside } from './quarantine/pods-aside.ts';

interface Told {
  readonly skipped: readonly SkippedPool[];
  readonly text: string;
}

/** Upstream's reasons where they mean the same. Source: Karpenter v1.15, pkg/events/reason.go. */
export class ProvisioningEvents {
  readonly #recorder: EventRecorder;
  readonly #refusals = new WeakMap<readonly Refusal[], Told>();

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder;
  }

  /** On a Pod that has room somewhere: where. */
  placed({ nominations }: Plan, pod: Live<Pod>): void {
    const target = nominations.get(keyText(pod.metadata));
    if (target !== undefined) this.#nominated(pod, `${target} has room for this Pod`);
  }

  /** On each Pod that a machine was asked for: for which it waits. */
  waiting({ metadata }: Live<NodeClaim>, pods: readonly Live<Pod>[]): void {
    const message = `Waits for the machine of NodeClaim ${metadata.name}`;
    for (const pod of pods) this.#nominated(pod, message);
  }

  /** On the pool: the API server takes no NodeClaim that is made from it. */
  notMade(pool: Live<NodePool>, error: unknown): void {
    this.#recorder.record({
      object: pool,
      type: 'Warning',
      reason: 'FailedCreate',
      message: `No NodeClaim could be made, it is tried again: ${wordsOf(error)}`.slice(0, longest),
      dedupeValues: [pool.metadata.name],
      dedupeTimeout: minutes(5),
    });
  }

  /** On a Pod that could be ours and found no place: why, pool by pool. Pods meant for others are left in peace. */
  refused({ unschedulable }: Plan, pod: Live<Pod>, skipped: readonly SkippedPool[]): void {
    const refusals = unschedulable.get(keyText(pod.metadata));
    if (!refusals || !(isAimed(pod) || refusals.some(isNear))) return;
    this.#recorder.record({
      object: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: this.#refusal(refusals, skipped),
      dedupeValues: [pod.metadata.uid, ...refusals.map(newsOf)],
      dedupeTimeout: minutes(5),
    });
  }

  /** On a Pod that planning failed with: what happened, and when it is tried again. */
  setAside({ pod, aside }: PodAside): void {
    this.#recorder.record({
      object: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: coded(asideText(aside), 'KPU351'),
      dedupeValues: [pod.metadata.uid, 'quarantine', String(aside.until)],
      dedupeTimeout: minutes(5),
    });
  }

  /** Pods of one group are refused by the very same list, and told in the same words. */
  #refusal(refusals: readonly Refusal[], skipped: readonly SkippedPool[]): string {
    const known = this.#refusals.get(refusals);
    if (known?.skipped === skipped) return known.text;
    const text = coded(noMachineText(refusals, skipped), codeOf(refusals));
    this.#refusals.set(refusals, { skipped, text });
    return text;
  }

  #nominated(pod: Live<Pod>, message: string): void {
    const dedupeTimeout = minutes(5);
    this.#recorder.record({
      object: pod,
      type: 'Normal',
      reason: 'Nominated',
      message,
      dedupeTimeout,
    });
  }

  /** On the pool: its requirements leave no size of machine. */
  misfit(pool: Live<NodePool>, message: string): void {
    const dedupeTimeout = minutes(5);
    this.#recorder.record({
      object: pool,
      type: 'Warning',
      reason: noInstanceTypes,
      message,
      dedupeTimeout,
    });
  }

  /** On the pool: it makes no more machines for some Pods until they have rested. */
  backedOff(pool: Live<NodePool>, message: string): void {
    this.#recorder.record({
      object: pool,
      type: 'Warning',
      reason: 'ProvisioningBackoff',
      message: message.slice(0, longest),
      dedupeTimeout: minutes(5),
    });
  }

  limitReached(pool: Live<NodePool>, state: LimitState): void {
    this.#recorder.record({
      object: pool,
      type: 'Warning',
      reason: 'LimitReached',
      message: limitText(pool.metadata.name, state),
      dedupeTimeout: minutes(5),
    });
  }
}

/** What makes a refusal another one. Numbers change all the time; of what is not there each sentence is news. */
function newsOf({ pool, reason, message }: Refusal): string {
  return `${pool} ${reason === 'Unsupported' ? message : reason}`;
}

const near: readonly Refusal['reason'][] = ['Resources', 'NoOfferings', 'Limit', 'Backoff'];

/** The pool fits the Pod in kind and lacks only room, or makes none for now. */
function isNear({ reason }: Refusal): boolean {
  return near.includes(reason);
}

function codeOf(refusals: readonly Refusal[]): Code {
  const resting = refusals.find(({ reason }) => reason === 'Backoff');
  if (resting) return resting.code ?? 'KPU347';
  const [code, ...others] = new Set(refusals.map((refusal) => refusal.code));
  return others.length > 0 ? 'KPU342' : (code ?? 'KPU342');
}

/** The server's own sentence, without the call that it answers. */
function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return error.text;
  return error instanceof Error ? error.message : String(error);
}
