/**
 * Events of a watch in protobuf.
 *
 * Source: k8s.io/apimachinery v0.37, pkg/apis/meta/v1/generated.proto (WatchEvent).
 */
import type { KubeObject, ObjectMeta } from '#schemas/kubernetes/meta.ts';

import { valueAt } from '../shapes/presence.ts';
import { ShapeReader } from '../shapes/shape-reader.ts';
import { at, beside, dropped, message, text, texts, word } from '../shapes/shape.ts';
import { MalformedMessage, type Span } from '../shapes/wire.ts';
import type { ObjectReader, WatchEvent } from './client.ts';
import { statusOf, unwrapped, within } from './protobuf-object.ts';

type EventType = WatchEvent<unknown>['type'];
const types: ReadonlySet<EventType> = new Set([
  'ADDED',
  'MODIFIED',
  'DELETED',
  'BOOKMARK',
  'ERROR',
]);
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

/**
 * @param event  where it stands
 * @param reader  makes the objects that are told of
 * @throws MalformedMessage
 */
export function eventInFrame<T>(event: Span, reader: ObjectReader<T>): WatchEvent<T> {
  const type = typeIn(within(event, 1));
  const { kind, object } = unwrapped(within(within(event, 2), 1));
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: reader.fromProtobuf(object, kind) };
    case 'BOOKMARK':
      return { type, object: bookmark.fromProtobuf(object, kind) };
    case 'ERROR':
      return { type, object: statusOf(object) };
  }
}

function typeIn({ bytes, from, to }: Span): EventType {
  const type = valueAt(types, { bytes, at: from }, to);
  if (type === undefined)
    throw new MalformedMessage(`an event of type ${bytes.toString('latin1', from, to)}`);
  return type;
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
