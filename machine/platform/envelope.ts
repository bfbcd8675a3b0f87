import { PlatformUnavailable } from '../errors.ts';

/**
 * The platform wraps every answer: `{status, message?, data?}`; each item of a list in `data` has a status of its own.
 * An answer with HTTP status 200 can be an error all the same.
 *
 * Source: Unikraft Cloud platform API, as its public JavaScript SDK types it.
 */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The `data` of an answer that says success.
 *
 * @param what  which call, for the message
 * @throws PlatformUnavailable for anything else: not JSON, not an envelope, status error
 */
export function dataOf(body: string, what: string): Fields {
  const envelope = fieldsOf(parse(body, what));
  if (envelope?.['status'] === 'success') return fieldsOf(envelope['data']) ?? {};
  throw new PlatformUnavailable(`${what}: the platform answered ${told(envelope)}`);
}

/**
 * The only item of a list in `data`, or its first.
 * @throws PlatformUnavailable when there is none, or it has failed by itself
 */
export function firstOf(data: Fields, list: string, what: string): Fields {
  const items = data[list];
  const item = fieldsOf(Array.isArray(items) ? items[0] : undefined);
  const status = item?.['status'];
  if (item && (status === undefined || status === 'success')) return item;
  throw new PlatformUnavailable(`${what}: the platform answered ${told(item)}`);
}

/** A JSON object's fields; undefined for anything that is none. */
export function fieldsOf(value: unknown): Fields | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

function parse(body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new PlatformUnavailable(`${what}: the answer is not JSON`, { cause: error });
  }
}

function told(fields: Fields | undefined): string {
  if (!fields) return 'without the expected fields';
  const { status, message } = fields;
  return `status ${JSON.stringify(status)}${typeof message === 'string' ? `: ${message.slice(0, 200)}` : ''}`;
}
