/** Much happens within minutes: each second of the last so many has a place of its own. */
const places = 1024;

/** Times as the API writes them in JSON, each of them mostly one string in memory. */
export class Times {
  readonly #seconds = new Float64Array(places).fill(Number.NaN);
  readonly #texts = Array.from({ length: places }, () => '');

  /** @param second  since 1970 */
  of(second: number): string {
    const place = second & (places - 1);
    if (this.#seconds[place] !== second) {
      this.#texts[place] = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
      this.#seconds[place] = second;
    }
    return this.#texts[place] ?? '';
  }
}
