/** Of one list; what is asked of it comes from claims, and these are mostly alike. */
const most = 100;

/**
 * What was worked out from a list, by what was asked of it. A list never changes, and is another one as soon as anything in
 * it does; what was worked out from it goes with it.
 */
export class WorkedOut<V> {
  readonly #known = new WeakMap<object, Map<string, V>>();

  /** @param question  everything beside the list that the answer depends on */
  of(list: object, question: string, work: () => V): V {
    const answers = this.#known.get(list) ?? new Map<string, V>();
    this.#known.set(list, answers);
    const known = answers.get(question);
    if (known !== undefined) return known;
    const answer = work();
    if (answers.size >= most) answers.clear();
    answers.set(question, answer);
    return answer;
  }
}
