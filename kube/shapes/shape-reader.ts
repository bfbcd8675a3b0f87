import type { Shared, Template } from './any-shape.ts';
import { kept } from './kept.ts';
import { ProtobufReader, type TypeMeta } from './protobuf-reader.ts';
import type { ObjectShape } from './shape.ts';
import { SharedParts } from './shared-parts.ts';
import { templates } from './templates.ts';
import { Cursor, spanOf, type Span } from './wire.ts';

/** Makes what is kept of objects, from JSON or from protobuf; equal parts of all that it makes are one. */
export class ShapeReader<T> {
  readonly #shape: ObjectShape<T>;
  readonly #parts = new Map<Shared | Template, SharedParts>();
  readonly #protobuf = new ProtobufReader((shape) => this.#partsOf(shape));

  constructor(shape: ObjectShape<T>) {
    this.#shape = shape;
  }

  fromJson(object: unknown): T {
    const share = (shape: Shared | Template, part: object): object => {
      const { bytes, from, to } = spanOf(JSON.stringify(part));
      const parts = this.#partsOf(shape);
      return parts.find(bytes, from, to) ?? parts.add(part);
    };
    return (kept(this.#shape, object, share) ?? {}) as T;
  }

  /** @throws MalformedMessage */
  fromProtobuf({ bytes, from, to }: Span, type: TypeMeta = {}): T {
    return this.#protobuf.read(this.#shape, new Cursor(bytes, from), to, type) as T;
  }

  #partsOf(shape: Shared | Template): SharedParts {
    const known = this.#parts.get(shape);
    if (known) return known;
    const parts = shape.kind === 'template' ? templates(shape.holder) : new SharedParts();
    this.#parts.set(shape, parts);
    return parts;
  }
}
