/**
 * Objects in protobuf as the API server wraps them, and what it refuses with.
 *
 * Source: k8s.io/apimachinery v0.37, pkg/runtime/generated.proto (Unknown), pkg/runtime/serializer/protobuf (the four bytes
 * before an object), pkg/apis/meta/v1/generated.proto (Status).
 */
import type { Status } from '#schemas/kubernetes/meta.ts';

import type { TypeMeta } from '../shapes/protobuf-reader.ts';
import { ShapeReader } from '../shapes/shape-reader.ts';
import { at, dropped, message, nonZero, text, word } from '../shapes/shape.ts';
import { Cursor, MalformedMessage, wire, type Span } from '../shapes/wire.ts';

export const protobuf = 'application/vnd.kubernetes.protobuf';

/** Before each object, as a number: `k8s` and a zero. */
const magic = 0x6b_38_73_00;
const magicBytes = 4;

const typeMeta = new ShapeReader(
  message<{ apiVersion?: string; kind?: string }>({
    apiVersion: at(1, word),
    kind: at(2, word),
  }),
);

type Details = NonNullable<Status['details']>;

const status = new ShapeReader(
  message<Status>({
    kind: dropped,
    status: at(2, text),
    message: at(3, text),
    reason: at(4, text),
    code: at(6, nonZero),
    details: at(
      5,
      message<Details>({
        name: at(1, text),
        group: at(2, text),
        kind: at(3, text),
        retryAfterSeconds: at(5, nonZero),
        causes: dropped,
      }),
    ),
  }),
);

/** @throws MalformedMessage */
export function unwrapped(wrapped: Span): { readonly kind: TypeMeta; readonly object: Span } {
  const unknown = withoutMagic(wrapped);
  return { kind: kindIn(within(unknown, 1)), object: within(unknown, 2) };
}

/** The one before, as all objects of a watch are of one kind. */
let last = { written: '', kind: {} as TypeMeta };

function kindIn(span: Span): TypeMeta {
  const written = span.bytes.toString('latin1', span.from, span.to);
  if (last.written !== written) last = { written, kind: typeMeta.fromProtobuf(span) };
  return last.kind;
}

/** @param object  the message of a Status */
export function statusOf(object: Span): Status {
  return { ...status.fromProtobuf(object), kind: 'Status' };
}

/** From the body of a refusal; undefined when it is none. */
export function statusIn(body: Buffer): Status | undefined {
  try {
    return statusOf(unwrapped({ bytes: body, from: 0, to: body.length }).object);
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

function withoutMagic({ bytes, from, to }: Span): Span {
  if (to - from < magicBytes || bytes.readUInt32BE(from) !== magic)
    throw new MalformedMessage('an object without its first four bytes');
  return { bytes, from: from + magicBytes, to };
}

/** The message in the field with that number; empty when the field is absent, as is a message with nothing in it. */
export function within({ bytes, from, to }: Span, place: number): Span {
  const cursor = new Cursor(bytes, from);
  while (cursor.at < to) {
    const tag = cursor.varint();
    if (tag === place * 8 + wire.bytes) {
      const end = cursor.end(to);
      return { bytes, from: cursor.at, to: end };
    }
    cursor.skip(tag & 7, to);
  }
  return { bytes, from: to, to };
}
