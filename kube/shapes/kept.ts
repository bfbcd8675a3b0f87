import type { AnyShape, Leaf, List, MapShape, Message, Shared } from './any-shape.ts';

type Share = (shared: Shared, part: object) => object;

/** What is kept of a value that came as JSON; undefined: nothing. */
export function kept(shape: AnyShape, value: unknown, share: Share): unknown {
  return value === undefined || value === null ? undefined : keptOf(shape, value, share);
}

function keptOf(shape: AnyShape, value: NonNullable<unknown>, share: Share): unknown {
  switch (shape.kind) {
    case 'shared':
      return sharedPart(shape, value, share);
    case 'message':
      return messagePart(shape, value as Record<string, unknown>, share);
    case 'list':
      return listPart(shape, value as readonly unknown[], share);
    case 'map':
      return mapPart(shape, value as Readonly<Record<string, string>>);
    case 'text':
    case 'numeric':
    case 'wrapped':
      return leaf(shape, value);
    case 'oneOf':
      return shape.values.has(value as string) ? value : undefined;
  }
}

/** What JSON leaves out, and who writes JSON by hand may not. */
function leaf(shape: Leaf, value: unknown): unknown {
  const isNothing =
    shape.kind === 'numeric' && (shape.as === 'nonZero' || shape.as === 'set')
      ? !value
      : value === '';
  return isNothing ? undefined : value;
}

function sharedPart(shape: Shared, value: unknown, share: Share): unknown {
  const part = kept(shape.shape, value, share);
  return typeof part === 'object' && part !== null ? share(shape, part) : part;
}

function messagePart(
  { fields, keep }: Message,
  value: Readonly<Record<string, unknown>>,
  share: Share,
): object | undefined {
  const object: Record<string, unknown> = {};
  for (const { name, shape } of fields) {
    const part = kept(shape, value[name], share);
    if (part !== undefined) object[name] = part;
    else if (shape.kind === 'oneOf') return undefined;
  }
  return keep(object) ? object : undefined;
}

function mapPart({ only }: MapShape, map: Readonly<Record<string, string>>): object | undefined {
  const keys = Object.keys(map).filter((key) => only?.has(key) ?? true);
  if (keys.length === 0) return undefined;
  return only ? Object.fromEntries(keys.map((key) => [key, map[key]])) : map;
}

function listPart(
  { entry }: List,
  values: readonly unknown[],
  share: Share,
): readonly unknown[] | undefined {
  const parts = values
    .map((value) => (entry.kind === 'text' ? value : kept(entry, value, share)))
    .filter((part) => part !== undefined);
  return parts.length > 0 ? parts : undefined;
}
