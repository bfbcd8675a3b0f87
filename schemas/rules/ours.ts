import { group, nodeClassKind } from '../names.ts';
import { placesAt } from './places.ts';

/** Where an object of each kind says which node class it is for. */
const references: Readonly<Record<string, string>> = {
  NodePool: 'spec.template.spec.nodeClassRef',
  NodeClaim: 'spec.nodeClassRef',
};

/**
 * Whether an object is aimed at our node class, or is one. It is asked before any expression runs, so that what
 * belongs to another provider is never judged, whatever it looks like.
 */
export function concernsUs(object: unknown): boolean {
  const kind = valueAt(object, 'kind');
  if (kind === nodeClassKind) return String(valueAt(object, 'apiVersion')).startsWith(`${group}/`);
  const reference = typeof kind === 'string' && Object.hasOwn(references, kind) && references[kind];
  if (!reference) return false;
  return (
    valueAt(object, `${reference}.group`) === group &&
    valueAt(object, `${reference}.kind`) === nodeClassKind
  );
}

function valueAt(object: unknown, path: string): unknown {
  return placesAt(object, path)[0]?.value;
}
