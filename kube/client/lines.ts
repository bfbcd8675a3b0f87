const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines.
 *
 * It cuts at bytes and decodes whole lines only: a character of several bytes may lie over the border of two chunks,
 * but the newline byte is never part of one (UTF-8). What is left of a line is kept as pieces and joined once, so that a
 * line of many chunks is not copied for each of them.
 */
export class LineSplitter {
  #pieces: Buffer[] = [];

  /** The lines that `chunk` completes, without their newlines; blank ones are left out. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#pieces.push(chunk.subarray(start, end));
      lines.push(this.rest());
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
    return lines.filter((line) => line.trim() !== '');
  }

  /** What came after the last newline; it is given up by this. */
  rest(): string {
    const [only] = this.#pieces;
    const line = this.#pieces.length === 1 && only ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    return line.toString('utf8');
  }
}
