import { hashOf } from './hash.ts';

/** Words are few, names of namespaces and nodes and phases, so a fixed number of places serves them. */
const places = 4096;
/** A longer text is no word. */
const longest = 64;

/** Texts that many objects have in common: mostly one string in memory for all that are equal. */
export class Words {
  readonly #words = Array.from({ length: places }, () => '');

  /** The text of these bytes (UTF-8); the very one that was given before, if its place was not taken since. */
  of(bytes: Buffer, from: number, to: number): string {
    if (to - from > longest) return bytes.toString('utf8', from, to);
    const place = hashOf(bytes, from, to) & (places - 1);
    const known = this.#words[place] ?? '';
    if (isWritten(known, bytes, from, to)) return known;
    const word = bytes.toString('utf8', from, to);
    this.#words[place] = word;
    return word;
  }
}

/** In ASCII; any other word is made anew. */
export function isWritten(word: string, bytes: Buffer, from: number, to: number): boolean {
  if (word.length !== to - from) return false;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code !== bytes[from + i] || code > 0x7f) return false;
  }
  return true;
}
