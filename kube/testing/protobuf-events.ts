import { bytesField, written } from './protobuf-writer.ts';

const magic = Buffer.from('k8s\0');

interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** An object as the API server wraps it. @param object  its message */
export function wrapped(type: TypeMeta, object: Buffer): Buffer {
  const typeMeta = written({ apiVersion: [1, 'text'], kind: [2, 'text'] }, type);
  return Buffer.concat([magic, bytesField(1, typeMeta), bytesField(2, object)]);
}

/** An event of a watch as the API server frames it. @param object  the message of an object */
export function framed(type: string, kind: TypeMeta, object: Buffer): Buffer {
  const event = Buffer.concat([
    bytesField(1, Buffer.from(type)),
    bytesField(2, bytesField(1, wrapped(kind, object))),
  ]);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(event.length);
  return Buffer.concat([header, event]);
}
