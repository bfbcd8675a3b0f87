import type {
  AnyShape,
  Inlined,
  Kept,
  Leaf,
  List,
  MapShape,
  Message,
  OneOf,
  Shared,
  Template,
} from './any-shape.ts';
import { withApart } from './templates.ts';

type Share = (shape: Shared | Template, part: object) => object;

/** What is kept of a value that came as JSON; undefined: nothing. */
export function kept(shape: AnyShape, value: unknown, share: Share): unknown {
  if (shape.kind === 'inlined') throw new TypeError('in JSON its fields stand by themselves');
  return value === undefined || value === null ? undefined : keptOf(shape, value, share);
}

function keptOf(
  shape: Exclude<AnyShape, Inlined>,
  value: NonNullable<unknown>,
  share: Share,
): unknown {
  switch (shape.kind) {
    case 'shared':
      return sharedPart(shape, value, share);
    case 'template':
      return templatePart(shape, value as Record<string, unknown>, share);
    case 'message':
      return messagePart(shape, value as Record<string, unknown>, share);
    case 'list':
      return listPart(shape, value as readonly unknown[], share);
    case 'map':
      return mapPart(shape, value as Readonly<Record<string, string>>);
    case 'text':
    case 'numeric':
    case 'wrapped':
    case 'oneOf':
      return leaf(shape, value);
  }
}

export function isKept(kept: Kept, needs: Message['needs']): boolean {
  if (!needs) return true;
  for (const name of needs) if (kept[name] !== undefined) return true;
  return false;
}

/** What JSON leaves out, and who writes JSON by hand may not. */
function leaf(shape: Leaf | OneOf, value: unknown): unknown {
  if (shape.kind === 'oneOf') return shape.values.has(value as string) ? value : undefined;
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

function templatePart(
  shape: Template,
  value: Readonly<Record<string, unknown>>,
  share: Share,
): object | undefined {
  const common = messagePart(shape.common, value, share);
  const { name, shape: apart } = shape.apart;
  return common && withApart(shape, share(shape, common), kept(apart, value[name], share));
}

function messagePart(
  { fields, needs }: Message,
  value: Readonly<Record<string, unknown>>,
  share: Share,
): object | undefined {
  const object: Record<string, unknown> = {};
  for (const { name, shape } of fields) {
    const part = kept(shape, value[name], share);
    if (part !== undefined) object[name] = part;
  }
  return isKept(object, needs) ? object : undefined;
}

function mapPart({ only }: MapShape, map: Readonly<Record<string, string>>): object | undefined {
  const keys = Object.keys(map).filter((key) => only?.values.has(key) ?? true);
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
