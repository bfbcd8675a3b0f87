import type { ObjectReader, WatchEvent } from './client.ts';

/**
 * @param line  one event
 * @param reader  makes the objects that are told of; default: all that came
 * @throws SyntaxError, TypeError
 */
export function eventInLine<T>(line: string, reader: ObjectReader<T> | undefined): WatchEvent<T> {
  const event: unknown = JSON.parse(line);
  if (!isEvent(event)) throw new TypeError('a watch event has a type and an object');
  if (!reader || !told.has(event.type)) return event as WatchEvent<T>;
  return { ...event, object: reader.fromJson(event.object) } as WatchEvent<T>;
}

const told: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED']);

function isEvent(value: unknown): value is { type: string; object: object } {
  if (typeof value !== 'object' || value === null) return false;
  const { type, object } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof object === 'object' && object !== null;
}
