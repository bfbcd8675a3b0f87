import type { Kept, Template } from './any-shape.ts';
import { SharedParts } from './shared-parts.ts';

/**
 * What objects have in common that differ in one field. Those that have the field are copies, and nobody may have what
 * they were copied from; it stays known as long as any of them has its {@link Template.holder}.
 */
export function templates(holder: string): SharedParts {
  /** By their holders. What comes once often stays alone, so it is held from the second time on. */
  const held = new WeakMap<object, object>();
  return new SharedParts((part) => {
    const value = (part as Kept)[holder];
    if (typeof value === 'object' && value !== null) held.set(value, part);
  });
}

/** @param apart  the field that the object has for itself; undefined: it has not, and is what it has in common */
export function withApart(shape: Template, common: object, apart: unknown): Kept {
  if (apart === undefined) return common as Kept;
  const copy = Object.assign(new shape.make(), common);
  copy[shape.apart.name] = apart;
  return copy;
}
