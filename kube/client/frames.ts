/** Bytes that say how long the frame is that follows them, the most significant first. */
const header = 4;
/** No object that the API server takes is larger than a few MiB; a longer frame is no frame. */
const longest = 256 * 1024 * 1024;

/** Cuts a stream of bytes into the frames of a watch in protobuf. */
export class FrameSplitter {
  #pieces: Buffer[] = [];
  #have = 0;
  /** Of the frame, once its header is there. */
  #length: number | undefined;

  /** The frames that `chunk` completes, as views of it where they can. @throws RangeError */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      const wanted = this.#length ?? header;
      const end = Math.min(chunk.length, at + wanted - this.#have);
      this.#pieces.push(chunk.subarray(at, end));
      this.#have += end - at;
      at = end;
      if (this.#have === wanted) this.#complete(frames);
      if (this.#length === 0) this.#complete(frames); // nothing comes that would complete it
    }
    return frames;
  }

  /** Whether the stream is cut within a frame. */
  get isCut(): boolean {
    return this.#have > 0 || this.#length !== undefined;
  }

  #complete(frames: Buffer[]): void {
    const [only] = this.#pieces;
    const whole = this.#pieces.length === 1 && only ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#have = 0;
    if (this.#length !== undefined) {
      this.#length = undefined;
      frames.push(whole);
      return;
    }
    this.#length = whole.readUInt32BE();
    if (this.#length > longest) throw new RangeError(`a frame of ${this.#length} bytes`);
  }
}
