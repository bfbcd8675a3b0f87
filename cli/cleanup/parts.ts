import type { InstancePart } from '#machine/cloud/provider.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { Failure, Leftover, Place } from './place.ts';
import { removeEach } from './remove-each.ts';
import { settled } from './settled.ts';

/** A disk or a network interface, and the instance that has it. */
export interface Part extends InstancePart {
  readonly instance: string | undefined;
}

/** How a cloud lists and deletes them. */
export interface Shelf {
  /** `volumes in eu-central-1` */
  readonly name: string;
  /** All of the cluster, those on their way out among them; throws where anything could be missing. */
  list(signal: AbortSignal): Promise<readonly Part[]>;
  /** @throws MachineError */
  delete(part: Part, signal: AbortSignal): Promise<void>;
  readonly clock: Clock;
}

/** A part is let go in seconds once its instance has ended, and deleted in as many. */
const longest = minutes(3);

/** What the cluster's machines had. Most goes with them; the rest is deleted once it is free. */
export class PartsThere implements Place {
  readonly name: string;
  readonly #shelf: Shelf;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    this.name = shelf.name;
  }

  async list(signal: AbortSignal): Promise<Leftover[]> {
    return (await this.#there(signal)).map(({ kind, id, state, zone, instance }) => ({
      kind,
      id,
      facts: { state: state.toLowerCase(), zone, instance },
    }));
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const ids = new Set(shown.map(({ id }) => id));
    const look = async (): Promise<Part[]> =>
      (await this.#there(signal)).filter(({ id }) => ids.has(id));
    const held = async (): Promise<Part[]> => (await look()).filter(({ isFree }) => !isFree);
    const within = { clock: this.#shelf.clock, within: longest };
    await settled(held, within, signal);
    const removal = {
      ...within,
      look,
      idOf: ({ id }: Part) => id,
      stateOf: ({ state }: Part) => state,
      end: async (part: Part) =>
        part.isFree ? this.#delete(part, signal) : `it is ${part.state}${heldBy(part.instance)}.`,
    };
    return removeEach(removal, signal);
  }

  /** Not on their way out. */
  async #there(signal: AbortSignal): Promise<readonly Part[]> {
    const all = await this.#shelf.list(signal);
    return all.filter(({ state }) => !/^delet(ing|ed)$/i.test(state));
  }

  /** @returns why it is still there */
  async #delete(part: Part, signal: AbortSignal): Promise<string | undefined> {
    try {
      await this.#shelf.delete(part, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const { message, code } = error as { message: string; code?: string };
      return code === undefined ? message : `${message} (${code})`;
    }
  }
}

function heldBy(instance: string | undefined): string {
  return instance === undefined ? '' : `, attached to ${instance}`;
}
