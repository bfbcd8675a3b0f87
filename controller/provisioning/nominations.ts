/**
 * A plan is carried out, not hoped for: kube-scheduler chooses among open nodes by its own lights, so it is told
 * which Pods a Node was made for, after the Node exists and before it opens.
 *
 * Kubernetes reads `status.nominatedNodeName` written by others since 1.35 (KEP-5278); older clusters find their way in
 * further passes, and only the memory of the plan is kept for them. Plans live in memory: after a restart Pods are
 * planned anew onto the claims that are on their way.
 */
import { isConflict, isInvalid, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText, pods } from '#schemas/kubernetes/resource.ts';

import type { Context } from '../context.ts';
import { KeptRoom } from './kept-room.ts';
import { inParallel, rejectFirst } from './parallel.ts';

/** Patches at a time for one Node. */
const width = 16;
const firstMinor = 35;

export class Nominations {
  readonly #context: Context;
  /** Room for Pods that are not there yet. */
  readonly kept = new KeptRoom();
  /** Claim name → Pods (namespace/name) planned for it. */
  readonly #plans = new Map<string, Set<string>>();
  /** Pod (namespace/name) → which one of that name, and for which claim it waits. */
  readonly #waits = new Map<string, { readonly uid: string; readonly claim: string }>();
  /** Claim name → Node that its Pods were told of. */
  readonly #nodes = new Map<string, string>();
  #isSupported: Promise<boolean> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Remembers for which claim the Pods wait; an earlier plan for them ends. */
  plan(claimName: string, waiting: readonly Live<Pod>[]): void {
    const planned = this.#plans.get(claimName) ?? new Set();
    this.#plans.set(claimName, planned);
    for (const { metadata } of waiting) {
      const key = keyText(metadata);
      this.#drop(key);
      planned.add(key);
      this.#waits.set(key, { uid: metadata.uid, claim: claimName });
    }
  }

  /** The claim that a Pod waits for: this one, and not another that had its name. */
  claimOf({ metadata }: Live<Pod>): string | undefined {
    const wait = this.#waits.get(keyText(metadata));
    return wait?.uid === metadata.uid ? wait.claim : undefined;
  }

  /** Pods (namespace/name) that wait for a claim, or that it has room for when they leave: it is not empty with any. */
  podsOf(claimName: string): readonly string[] {
    return [...(this.#plans.get(claimName) ?? []), ...this.kept.podsOf(claimName)];
  }

  /** Pods that wait for a claim, as they are now. */
  waitingFor(claimName: string): readonly Live<Pod>[] {
    return [...(this.#plans.get(claimName) ?? [])]
      .map((key) => this.#context.caches.pods.get(key))
      .filter((pod) => pod !== undefined)
      .filter((pod) => isWaiting(pod) && this.claimOf(pod) === claimName);
  }

  /** Claims that Pods wait for. */
  get planned(): readonly string[] {
    return [...this.#plans.keys()];
  }

  /** Pods that are bound, gone or going, and those whose name another one has by now, wait no more. */
  settle(claimName: string): void {
    const waiting = new Set(this.waitingFor(claimName).map(({ metadata }) => keyText(metadata)));
    const over = [...(this.#plans.get(claimName) ?? [])].filter((key) => !waiting.has(key));
    for (const key of over) this.#drop(key);
  }

  /**
   * Tells the scheduler that the planned Pods go to this Node; call it while the Node is still closed. Safe to
   * repeat. Does nothing on Kubernetes before 1.35.
   *
   * @throws ApiError, ConnectionError: some Pods were not told
   */
  async nominate(claimName: string, nodeName: string): Promise<void> {
    const waiting = this.waitingFor(claimName).filter((pod) => this.#isFree(pod, nodeName));
    if (waiting.length === 0 || !(await this.#supported())) return;
    this.#nodes.set(claimName, nodeName);
    rejectFirst(await inParallel(waiting, width, async (pod) => this.#patch(pod, nodeName)));
  }

  /**
   * Ends a claim's plan and takes back what its Pods were told, where they are not bound yet.
   *
   * @throws ApiError, ConnectionError: some Pods still name the Node, which hides them from nobody once it is gone
   */
  async forget(claimName: string): Promise<void> {
    const nodeName = this.#nodes.get(claimName);
    const told = this.waitingFor(claimName).filter(
      ({ status }) => status?.nominatedNodeName === nodeName,
    );
    this.end(claimName);
    if (nodeName === undefined) return;
    rejectFirst(await inParallel(told, width, async (pod) => this.#patch(pod, null)));
  }

  /** Ends a claim's plan and leaves its Pods as they are: its Node is open, the scheduler decides. */
  end(claimName: string): void {
    for (const key of this.#plans.get(claimName) ?? []) this.#waits.delete(key);
    this.#plans.delete(claimName);
    this.#nodes.delete(claimName);
  }

  #drop(key: string): void {
    const wait = this.#waits.get(key);
    if (!wait) return;
    this.#waits.delete(key);
    this.#plans.get(wait.claim)?.delete(key);
  }

  /** Pods that the scheduler itself sent to a Node that is there, by preemption, are left to it. */
  #isFree(pod: Live<Pod>, nodeName: string): boolean {
    const told = pod.status?.nominatedNodeName;
    if (told === nodeName) return false;
    return told === undefined || told === '' || this.#context.caches.nodes.get(told) === undefined;
  }

  async #patch({ metadata }: Live<Pod>, nominatedNodeName: string | null): Promise<void> {
    const { namespace = '', name, uid } = metadata;
    const body = { metadata: { uid }, status: { nominatedNodeName } };
    const options = { subresource: 'status' };
    await this.#context.client
      .patch(pods, { namespace, name }, { type: 'merge', body }, options)
      .catch((error: unknown) => {
        if (!isWaitingNoMore(error)) throw error;
      });
  }

  async #supported(): Promise<boolean> {
    this.#isSupported ??= this.#askVersion();
    return this.#isSupported.catch((error: unknown) => {
      this.#isSupported = undefined;
      throw error;
    });
  }

  async #askVersion(): Promise<boolean> {
    const version = (await this.#context.client.raw('/version')) as {
      major?: string;
      minor?: string;
    };
    return Number(version.major) > 1 || Number.parseInt(version.minor ?? '', 10) >= firstMinor;
  }
}

/** The Pod is gone, another one has its name, or it was bound since the cache saw it: nothing waits here any more. */
function isWaitingNoMore(error: unknown): boolean {
  return isNotFound(error) || isConflict(error) || isInvalid(error);
}

function isWaiting({ spec, metadata }: Pod): boolean {
  return !spec?.nodeName && metadata?.deletionTimestamp === undefined;
}
