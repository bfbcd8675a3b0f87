import { MalformedMessage } from './wire.ts';

/** Much happens within minutes: each second of the last so many has a place of its own. */
const places = 1024;
const day = 86_400;
const zero = 48;
/** From and to which a calendar goes, in seconds. */
const farthest = 8.64e12;

/** Times as the API writes them in JSON, each of them mostly one string in memory. */
export class Times {
  readonly #seconds = new Float64Array(places).fill(Number.NaN);
  readonly #texts = Array.from({ length: places }, () => '');
  /** As of the last one: most are of one day. */
  readonly #written = Buffer.from('1970-01-01T00:00:00Z');
  #day = 0;

  /** @param second  since 1970 */
  of(second: number): string {
    const place = second & (places - 1);
    if (this.#seconds[place] !== second) {
      this.#texts[place] = this.#text(second);
      this.#seconds[place] = second;
    }
    return this.#texts[place] ?? '';
  }

  #text(second: number): string {
    if (Math.abs(second) > farthest) throw new MalformedMessage('a time that no calendar has');
    const days = Math.floor(second / day);
    if (days !== this.#day) {
      const date = new Date(days * day * 1000).toISOString();
      if (date.length !== 24) return `${new Date(second * 1000).toISOString().slice(0, -5)}Z`; // a year of six digits
      this.#written.write(date);
      this.#written[19] = 0x5a;
      this.#day = days;
    }
    const left = second - days * day;
    this.#put(11, Math.floor(left / 3600));
    this.#put(14, Math.floor(left / 60) % 60);
    this.#put(17, left % 60);
    return this.#written.toString('latin1');
  }

  #put(at: number, number: number): void {
    this.#written[at] = zero + Math.floor(number / 10);
    this.#written[at + 1] = zero + (number % 10);
  }
}
