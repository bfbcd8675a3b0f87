import type { Metrics } from '#kube/metrics.ts';
import { MachineError } from '#machine/errors.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { coded } from '../reason.ts';
import { type Found, kinds, type Kind, type Place } from './place.ts';
import type { Watchlist } from './watchlist.ts';

const text = {
  waiting: 'Things made for NodeClaims that are no more, which are not removed yet.',
  removed: 'Things made for NodeClaims that are no more, which were removed.',
  failed: 'Looks at things that machines leave which failed, and removals which did.',
} as const;

/** What people are told of the collection: a line of the log for each thing, a count, and an event on the node class. */
export class Telling {
  readonly #context: Pick<Context, 'log' | 'recorder' | 'caches'>;
  readonly #metrics: Metrics;

  constructor(context: Pick<Context, 'log' | 'recorder' | 'caches'>, metrics: Metrics) {
    this.#context = context;
    this.#metrics = metrics;
  }

  removed(place: Place, found: Found): void {
    const { kind, name } = place;
    const message = coded(
      `${describe(place, found)} was left by its claim and is removed`,
      'KPU391',
    );
    this.#context.log.warn({ code: 'KPU391', kind, place: name, ...factsOf(found) }, message);
    this.#metrics
      .counter('karpenter_unikraft_leftovers_removed_total', text.removed, ['kind'])
      .inc({ kind });
    this.#event(found, 'LeftoverRemoved', message);
  }

  refused(place: Place, found: Found, error: unknown): void {
    const { kind, name } = place;
    const message = coded(
      `${describe(place, found)} cannot be removed: ${wordsOf(error)}`,
      'KPU393',
    );
    this.#context.log.warn(
      { code: 'KPU393', kind, place: name, ...factsOf(found), err: error },
      message,
    );
    this.#fail(kind, 'removal');
    this.#event(found, 'LeftoverNotRemoved', message);
  }

  unlisted({ kind, name }: Place, error: unknown): void {
    const message = coded(`The ${name} cannot be listed: ${wordsOf(error)}`, 'KPU392');
    this.#context.log.warn({ code: 'KPU392', kind, place: name, err: error }, message);
    this.#fail(kind, 'list');
  }

  waiting(memories: readonly { readonly kind: Kind; readonly watchlist: Watchlist }[]): void {
    const gauge = this.#metrics.gauge('karpenter_unikraft_leftovers', text.waiting, ['kind']);
    for (const kind of kinds) {
      const own = memories.filter((memory) => memory.kind === kind);
      gauge.set(
        { kind },
        own.reduce((sum, { watchlist }) => sum + watchlist.size, 0),
      );
    }
  }

  #fail(kind: Kind, what: 'list' | 'removal'): void {
    this.#metrics
      .counter('karpenter_unikraft_leftovers_failed_total', text.failed, ['kind', 'what'])
      .inc({ kind, what });
  }

  /** The claim is gone, so it is told where people look next. */
  #event({ nodeClass, id }: Found, reason: string, message: string): void {
    const object =
      nodeClass === undefined ? undefined : this.#context.caches.nodeClasses.get(nodeClass);
    if (!object) return;
    const dedupe = { dedupeValues: [id], dedupeTimeout: minutes(30) };
    this.#context.recorder.record({ object, type: 'Warning', reason, message, ...dedupe });
  }
}

/** Never the thing itself: it may be a Secret. */
function factsOf({ id, claimUid, about }: Found) {
  return { id, claimUid, about };
}

function describe({ kind }: Place, { id, about, claimUid }: Found): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${id} (${about}) of claim ${claimUid}`;
}

function wordsOf(error: unknown): string {
  if (error instanceof MachineError) return `${error.message.replace(/\.+$/, '')} [${error.code}]`;
  return error instanceof Error ? error.message : String(error);
}
