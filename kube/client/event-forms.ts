/** The two forms in which events come: JSON, one object a line, and protobuf, in frames. */
import type { Span } from '../shapes/wire.ts';
import type { ObjectReader, WatchEvent } from './client.ts';
import { ConnectionError, MalformedAnswer, type Call } from './errors.ts';
import { FrameSplitter } from './frames.ts';
import { eventInLine } from './json-event.ts';
import { LineSplitter } from './lines.ts';
import { eventInFrame } from './protobuf-event.ts';

export interface EventForm<T, Piece = unknown> {
  /** The pieces that are whole with this chunk; each is an event. */
  cut(chunk: Buffer): readonly Piece[];
  /** What is left at the end of the stream, and is an event. @throws ConnectionError when it is cut off */
  last(): readonly Piece[];
  /** @throws MalformedAnswer */
  event(piece: Piece): WatchEvent<T>;
}

export function inLines<T>(call: Call, reader: ObjectReader<T> | undefined): EventForm<T, string> {
  const splitter = new LineSplitter();
  return {
    cut: (chunk) => splitter.push(chunk),
    last: () => [splitter.rest()].filter((line) => line.trim() !== ''),
    event: (line) => {
      try {
        return eventInLine(line, reader);
      } catch (cause) {
        throw new MalformedAnswer(call, line, cause);
      }
    },
  };
}

export function inFrames<T>(call: Call, reader: ObjectReader<T>): EventForm<T, Span> {
  const splitter = new FrameSplitter();
  const malformed = ({ bytes, from, to }: Span, cause: unknown): MalformedAnswer =>
    new MalformedAnswer(call, bytes.toString('latin1', from, Math.min(to, from + 120)), cause);
  return {
    cut: (chunk) => {
      try {
        return splitter.push(chunk);
      } catch (cause) {
        throw malformed({ bytes: chunk, from: 0, to: chunk.length }, cause);
      }
    },
    last: () => {
      if (!splitter.isCut) return [];
      throw new ConnectionError(call, new Error('the watch ended within an event'));
    },
    event: (frame) => {
      try {
        return eventInFrame(frame, reader);
      } catch (cause) {
        throw malformed(frame, cause);
      }
    },
  };
}
