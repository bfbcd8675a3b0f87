/**
 * Work that computes for milliseconds, one piece after the other and each in a turn of the event loop of its own: a hundred
 * that begin together would be one turn, in which no lease is renewed and no probe answered.
 */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns what `work` does, and fails as it does; those behind it go on */
  async do<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(nextTurn).then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
