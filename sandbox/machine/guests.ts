import { randomUUID } from 'node:crypto';

import type { Duration, Instant } from '#schemas/time/clock.ts';

import type { Quotas } from './user-data.ts';

/**
 * `standby` keeps its place among the instances and holds neither memory nor vCPUs. Source: Unikraft's Kubernetes
 * integration page, Pod rescheduling.
 */
export type GuestState = 'running' | 'standby' | 'stopped';

/** A microVM: here a name that takes up quota. */
export interface Guest {
  readonly uuid: string;
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly image: string;
  readonly tags: readonly string[];
  readonly state: GuestState;
  /** Why it is stopped. */
  readonly stopReason?: 'quota';
}

/** What a caller asks for. */
export interface GuestWish extends Omit<Guest, 'uuid' | 'state' | 'stopReason'> {
  /** Nobody asks anything of it for so long, and it goes to standby; absent: never. */
  readonly idleAfter?: Duration | undefined;
  /** The sandbox's own: so long after its start a request comes, and it is busy from then on. */
  readonly requestAfter?: Duration | undefined;
}

interface Coming {
  readonly at: Instant;
  readonly uuid: string;
  readonly to: 'standby' | 'running';
}

/**
 * The guests of one user: what is live is never more than its quotas allow. What time brings is done when somebody
 * looks, in the order in which it fell due.
 */
export class Guests {
  readonly quotas: Quotas;
  readonly #now: () => Instant;
  readonly #all = new Map<string, Guest>();
  #coming: Coming[] = [];

  constructor(quotas: Quotas, now: () => Instant) {
    this.quotas = quotas;
    this.#now = now;
  }

  get all(): readonly Guest[] {
    this.#catchUp();
    return [...this.#all.values()];
  }

  get(uuid: string): Guest | undefined {
    this.#catchUp();
    return this.#all.get(uuid);
  }

  named(name: string): Guest | undefined {
    return this.all.find((guest) => guest.name === name);
  }

  /** @returns undefined when it would go over a quota */
  start({ idleAfter, requestAfter, ...wanted }: GuestWish): Guest | undefined {
    const { instances } = this.used;
    if (instances + 1 > this.quotas.instances || !this.#hasLive(wanted)) return undefined;
    const guest: Guest = { ...wanted, uuid: randomUUID(), state: 'running' };
    this.#all.set(guest.uuid, guest);
    this.#due(guest, 'running', requestAfter);
    if (idleAfter !== undefined && !(requestAfter !== undefined && requestAfter <= idleAfter)) {
      this.#due(guest, 'standby', idleAfter);
    }
    return guest;
  }

  /** @returns whether there was one */
  remove(uuid: string): boolean {
    return this.#all.delete(uuid);
  }

  get used(): { instances: number; vcpus: number; memoryMiB: number } {
    this.#catchUp();
    return { instances: this.#all.size, ...this.#live() };
  }

  #live(): { vcpus: number; memoryMiB: number } {
    const live = [...this.#all.values()].filter(({ state }) => state === 'running');
    const sum = (of: (guest: Guest) => number): number =>
      live.reduce((total, guest) => total + of(guest), 0);
    return { vcpus: sum(({ vcpus }) => vcpus), memoryMiB: sum(({ memoryMiB }) => memoryMiB) };
  }

  #due({ uuid }: Guest, to: Coming['to'], after: Duration | undefined): void {
    if (after === undefined) return;
    this.#coming = [...this.#coming, { at: this.#now() + after, uuid, to }].toSorted(
      (a, b) => a.at - b.at,
    );
  }

  #catchUp(): void {
    const now = this.#now();
    while (this.#coming[0] && this.#coming[0].at <= now) {
      const [next, ...rest] = this.#coming as [Coming, ...Coming[]];
      this.#coming = rest;
      const guest = this.#all.get(next.uuid);
      if (guest) this.#become(guest, next.to);
    }
  }

  /** A guest that is asked for and finds no live quota is stopped for that reason. */
  #become(guest: Guest, to: Coming['to']): void {
    if (to === 'standby' || guest.state !== 'standby' || this.#hasLive(guest)) {
      this.#all.set(guest.uuid, { ...guest, state: to });
    } else this.#all.set(guest.uuid, { ...guest, state: 'stopped', stopReason: 'quota' });
  }

  #hasLive(wanted: Pick<Guest, 'vcpus' | 'memoryMiB'>): boolean {
    const { vcpus, memoryMiB } = this.#live();
    return (
      vcpus + wanted.vcpus <= this.quotas.vcpus &&
      memoryMiB + wanted.memoryMiB <= this.quotas.memoryMiB
    );
  }
}
