import type { AnyShape, Message, Numeric } from './any-shape.ts';
import type { Cursor } from './wire.ts';
import { isWritten } from './words.ts';

/**
 * False where nothing would be kept of the message, told before anything is made of it: of most containers' states and
 * most conditions nothing is kept.
 *
 * @param cursor  at the message, which ends at `end`; stays there
 * @throws MalformedMessage
 */
export function mayBeKept(shape: Message, cursor: Cursor, end: number): boolean {
  if (!shape.needs) return true;
  const from = cursor.at;
  const isThere = hasAny(shape, cursor, end);
  cursor.at = from;
  return isThere;
}

function hasAny({ byNumber }: Message, cursor: Cursor, end: number): boolean {
  while (cursor.at < end) {
    const tag = cursor.varint();
    const field = byNumber[tag >>> 3];
    if (!field?.isNeeded) cursor.skip(tag & 7, end);
    else {
      const value = cursor.at;
      cursor.skip(tag & 7, end);
      const after = cursor.at;
      cursor.at = value;
      if (isThere(field.shape, cursor, after)) return true;
      cursor.at = after;
    }
  }
  return false;
}

/** In doubt it is. */
function isThere(shape: AnyShape, cursor: Cursor, after: number): boolean {
  if (shape.kind === 'list') return isThere(shape.entry, cursor, after);
  if (shape.kind === 'inlined') return hasAny(shape.message, cursor, cursor.end(after));
  if (shape.kind === 'message') return mayBeKept(shape, cursor, cursor.end(after));
  if (shape.kind === 'oneOf') return valueAt(shape.values, cursor, cursor.end(after)) !== undefined;
  const isNumber = shape.kind === 'numeric' && isNothingAt0.has(shape.as);
  return !isNumber || cursor.bytes[cursor.at] !== 0;
}

const isNothingAt0: ReadonlySet<Numeric['as']> = new Set(['nonZero', 'set']);

/** The one of these words that stands here. */
export function valueAt<T extends string>(
  values: ReadonlySet<T>,
  { bytes, at }: Pick<Cursor, 'bytes' | 'at'>,
  end: number,
): T | undefined {
  for (const value of values) if (isWritten(value, bytes, at, end)) return value;
  return undefined;
}
