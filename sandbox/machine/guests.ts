import { randomUUID } from 'node:crypto';

import type { Quotas } from './user-data.ts';

/** A microVM: here a name that takes up quota. */
export interface Guest {
  readonly uuid: string;
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly image: string;
  readonly tags: readonly string[];
}

/** The guests of one user, never more than its quotas allow. */
export class Guests {
  readonly quotas: Quotas;
  readonly #all = new Map<string, Guest>();

  constructor(quotas: Quotas) {
    this.quotas = quotas;
  }

  get all(): readonly Guest[] {
    return [...this.#all.values()];
  }

  get(uuid: string): Guest | undefined {
    return this.#all.get(uuid);
  }

  named(name: string): Guest | undefined {
    return this.all.find((guest) => guest.name === name);
  }

  /** @returns undefined when it would go over a quota */
  start(wanted: Omit<Guest, 'uuid'>): Guest | undefined {
    const { instances, vcpus, memoryMiB } = this.used;
    const fits =
      instances + 1 <= this.quotas.instances &&
      vcpus + wanted.vcpus <= this.quotas.vcpus &&
      memoryMiB + wanted.memoryMiB <= this.quotas.memoryMiB;
    if (!fits) return undefined;
    const guest = { ...wanted, uuid: randomUUID() };
    this.#all.set(guest.uuid, guest);
    return guest;
  }

  /** @returns whether there was one */
  remove(uuid: string): boolean {
    return this.#all.delete(uuid);
  }

  get used(): { instances: number; vcpus: number; memoryMiB: number } {
    const sum = (of: (guest: Guest) => number): number =>
      this.all.reduce((total, guest) => total + of(guest), 0);
    return {
      instances: this.#all.size,
      vcpus: sum(({ vcpus }) => vcpus),
      memoryMiB: sum(({ memoryMiB }) => memoryMiB),
    };
  }
}
