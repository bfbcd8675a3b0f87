import { isMemoryShort, type PlatformFacts } from './node.ts';

/** The live memory that Pods were refused for the want of: what the Node's MemoryPressure is told by. */
export class WantedMemory {
  #wantedMiB: number | undefined;

  /** A Pod that needs so much was refused; the largest that would still be counts. */
  refused(memoryMiB: number): void {
    this.#wantedMiB = Math.max(memoryMiB, this.#wantedMiB ?? 0);
  }

  /** Forgotten as soon as there is as much. */
  in(facts: PlatformFacts): PlatformFacts {
    const seen = { ...facts, wantedMiB: this.#wantedMiB };
    if (!isMemoryShort(seen)) this.#wantedMiB = undefined;
    return seen;
  }
}
