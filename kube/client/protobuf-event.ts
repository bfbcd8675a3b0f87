/**
 * Events of a watch in protobuf.
 *
 * Source: k8s.io/apimachinery v0.37, pkg/apis/meta/v1/generated.proto (WatchEvent, Status) and pkg/runtime/generated.proto
 * (Unknown); pkg/runtime/serializer/protobuf (the four bytes before an object).
 */
import type { KubeObject, ObjectMeta, Status } from '#schemas/kubernetes/meta.ts';

import { ShapeReader } from '../shapes/shape-reader.ts';
import { at, beside, dropped, message, nonZero, text, texts, word } from '../shapes/shape.ts';
import { Cursor, MalformedMessage, wire, type Span } from '../shapes/wire.ts';
import type { ObjectReader, WatchEvent } from './client.ts';

/** Before each object. */
const magic = Buffer.from('k8s\0');

interface Envelope {
  type?: string;
}

const envelope = new ShapeReader(message<Envelope>({ type: at(1, word) }));
const typeMeta = new ShapeReader(
  message<{ apiVersion?: string; kind?: string }>({
    apiVersion: at(1, word),
    kind: at(2, word),
  }),
);

/** What a bookmark says. */
const bookmark = new ShapeReader(
  message<KubeObject>({
    apiVersion: beside(word),
    kind: beside(word),
    metadata: at(
      1,
      message<ObjectMeta>({
        resourceVersion: at(6, text),
        annotations: at(12, texts()),
        ...nothingElse(),
      }),
    ),
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

/**
 * @param frame  one event
 * @param reader  makes the objects that are told of
 * @throws MalformedMessage
 */
export function eventInFrame<T>(frame: Buffer, reader: ObjectReader<T>): WatchEvent<T> {
  const event = { bytes: frame, from: 0, to: frame.length };
  const { type } = envelope.fromProtobuf(event);
  const unknown = withoutMagic(within(within(event, 2), 1));
  const kind = typeMeta.fromProtobuf(within(unknown, 1));
  const object = within(unknown, 2);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: reader.fromProtobuf(object, kind) };
    case 'BOOKMARK':
      return { type, object: bookmark.fromProtobuf(object, kind) };
    case 'ERROR':
      return { type, object: { ...status.fromProtobuf(object), kind: 'Status' } };
    case undefined:
    default:
      throw new MalformedMessage(`an event of type ${type}`);
  }
}

function withoutMagic({ bytes, from, to }: Span): Span {
  if (to - from < magic.length || magic.some((byte, index) => bytes[from + index] !== byte))
    throw new MalformedMessage('an object without its first four bytes');
  return { bytes, from: from + magic.length, to };
}

/** The message in the field with that number; empty when the field is absent, as is a message with nothing in it. */
function within({ bytes, from, to }: Span, place: number): Span {
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

function nothingElse() {
  return {
    name: dropped,
    generateName: dropped,
    namespace: dropped,
    uid: dropped,
    generation: dropped,
    creationTimestamp: dropped,
    deletionTimestamp: dropped,
    deletionGracePeriodSeconds: dropped,
    labels: dropped,
    finalizers: dropped,
    ownerReferences: dropped,
    managedFields: dropped,
  } as const;
}
