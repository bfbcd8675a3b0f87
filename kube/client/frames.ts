import type { Span } from '../shapes/wire.ts';

/** Bytes that say how long the frame is that follows them, the most significant first. */
const header = 4;
/** No object that the API server takes is larger than a few MiB; a longer frame is no frame. */
const longest = 256 * 1024 * 1024;

/** Cuts a stream of bytes into the frames of a watch in protobuf. */
export class FrameSplitter {
  /** Of a frame that is not whole yet, with its header. */
  #pieces: Buffer[] = [];
  #have = 0;
  /** How many bytes it has when it is whole; as long as nobody knows, those of its header. */
  #wanted = header;

  /** The frames that `chunk` completes, where they stand in it if they can. @throws RangeError */
  push(chunk: Buffer): Span[] {
    const frames: Span[] = [];
    let at = this.#have > 0 ? this.#goOn(chunk, frames) : 0;
    while (at + header <= chunk.length) {
      const from = at + header;
      const to = from + lengthAt(chunk, at);
      if (to > chunk.length) break;
      frames.push({ bytes: chunk, from, to });
      at = to;
    }
    if (at < chunk.length) this.#goOn(chunk.subarray(at), frames);
    return frames;
  }

  /** Whether the stream is cut within a frame. */
  get isCut(): boolean {
    return this.#have > 0;
  }

  /** Takes what is missing. @returns how much of the chunk that was */
  #goOn(chunk: Buffer, frames: Span[]): number {
    let at = 0;
    while (at < chunk.length) {
      const end = Math.min(chunk.length, at + this.#wanted - this.#have);
      this.#pieces.push(chunk.subarray(at, end));
      this.#have += end - at;
      at = end;
      if (this.#have === header) this.#wanted += lengthAt(Buffer.concat(this.#pieces), 0);
      if (this.#have === this.#wanted) {
        this.#complete(frames);
        break;
      }
    }
    return at;
  }

  #complete(frames: Span[]): void {
    frames.push({ bytes: Buffer.concat(this.#pieces), from: header, to: this.#wanted });
    this.#pieces = [];
    this.#have = 0;
    this.#wanted = header;
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > longest) throw new RangeError(`a frame of ${length} bytes`);
  return length;
}
