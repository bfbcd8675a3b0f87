import type { Logger } from '#kube/log.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { groupOf } from '../breaker/pod-group.ts';
import { minuteText } from '../pauses.ts';
import type { Slices } from '../slices.ts';
import { Quarantine, type Aside } from './quarantine.ts';

/** A Pod that is left out of passes for a while. */
export interface PodAside {
  readonly pod: Live<Pod>;
  readonly aside: Aside;
}

/** A pass is for the Pods with which there is a plan: those with which there was none are left out, and come again. */
export class PodsAside {
  readonly #log: Logger;
  readonly #quarantine: Quarantine;
  /** One Pod of each group that waits, as the last pass found it. */
  #firsts: ReadonlyMap<string, Live<Pod>> = new Map();
  #aside: readonly PodAside[] = [];

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#log = log;
    this.#quarantine = new Quarantine(clock);
  }

  /** Those that the last pass left out, without those that only wait for the end of a search. */
  get aside(): readonly PodAside[] {
    return this.#aside;
  }

  /** Whether the next pass may show which Pods it is that passes fail with, or is for those that were held back. */
  get isHasteOfUse(): boolean {
    return this.#quarantine.isSearching && !this.#quarantine.isLost;
  }

  /** Who takes part in the pass that begins. */
  async sift(pods: readonly Live<Pod>[], slices: Slices): Promise<Live<Pod>[]> {
    const firsts = new Map<string, Live<Pod>>();
    await slices.each(pods, (pod) => {
      if (!firsts.has(groupOf(pod))) firsts.set(groupOf(pod), pod);
    });
    this.#firsts = firsts;
    const admitted = this.#quarantine.admit([...firsts.keys()]);
    const left: PodAside[] = [];
    const taken: Live<Pod>[] = [];
    await slices.each(pods, (pod) => {
      if (admitted.has(groupOf(pod))) taken.push(pod);
      const aside = this.#quarantine.asideOf(groupOf(pod));
      if (aside) left.push({ pod, aside });
    });
    this.#aside = left;
    return taken;
  }

  succeeded(): void {
    this.#quarantine.succeeded();
  }

  /** Whoever is to blame is told in the log, once. */
  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const verdict = this.#quarantine.failed(message);
    if (verdict.kind === 'searching') return;
    if (verdict.kind === 'notThePods') {
      const facts = { err: error, code: 'KPU352', pods: verdict.groups.map(this.#podOf) };
      this.#log.error(facts, 'planning fails whichever Pods take part: it is not the Pods');
      return;
    }
    const { group, aside } = verdict;
    const retryAt = minuteText(aside.until);
    const facts = { pod: this.#podOf(group), code: 'KPU351', error: message, retryAt };
    this.#log.warn(facts, 'planning fails with this Pod: it and those like it are left out');
  }

  readonly #podOf = (group: string): string => {
    const pod = this.#firsts.get(group);
    return pod ? keyText(pod.metadata) : group;
  };
}

/**
 * As a sentence without its code, the same in each pass until the Pod is tried again.
 *
 * @example planning failed or took longer than 60 s with this Pod: heap out of memory; it is tried again at
 * 2026-11-30 17:35 UTC
 */
export function asideText({ error, until }: Aside): string {
  const short = error.length > mostOfError ? `${error.slice(0, mostOfError)}…` : error;
  const what = `planning failed or took longer than 60 s with this Pod: ${short}`;
  return `${what}; it is tried again at ${minuteText(until)}`;
}

/** An event may say 1024 characters, the time and the code among them. */
const mostOfError = 800;
