import type { Shared } from './any-shape.ts';
import { kept } from './kept.ts';
import { ProtobufReader } from './protobuf-reader.ts';
import type { ObjectShape } from './shape.ts';
import { SharedParts } from './shared-parts.ts';
import { Cursor, spanOf, type Span } from './wire.ts';

/** What an object is, which protobuf says beside it. */
export interface TypeMeta {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Makes what is kept of objects, from JSON or from protobuf; equal parts of all that it makes are one. */
export class ShapeReader<T> {
  readonly #shape: ObjectShape<T>;
  readonly #parts = new Map<Shared, SharedParts>();
  readonly #protobuf = new ProtobufReader((shared, written, make) =>
    this.#partsOf(shared).share(written, make),
  );

  constructor(shape: ObjectShape<T>) {
    this.#shape = shape;
  }

  fromJson(object: unknown): T {
    const share = (shared: Shared, part: object): object =>
      this.#partsOf(shared).share(spanOf(JSON.stringify(part)), () => part);
    return (kept(this.#shape, object, share) ?? {}) as T;
  }

  /** @throws MalformedMessage */
  fromProtobuf({ bytes, from, to }: Span, type: TypeMeta = {}): T {
    return this.#protobuf.read(this.#shape, new Cursor(bytes, from), to, type) as T;
  }

  #partsOf(shared: Shared): SharedParts {
    const known = this.#parts.get(shared);
    if (known) return known;
    const parts = new SharedParts();
    this.#parts.set(shared, parts);
    return parts;
  }
}
