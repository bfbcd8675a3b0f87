import { admission } from './admission.ts';
import { bootstrap } from './bootstrap.ts';
import { cli } from './cli.ts';
import { disruption } from './disruption.ts';
import { leftovers } from './leftovers.ts';
import { machines } from './machines.ts';
import { nodeClass } from './node-class.ts';
import { quotas } from './quotas.ts';
import { repair } from './repair.ts';

/**
 * Every error and warning that a person can see, by its stable code. docs/reference/codes.md is made from this table.
 *
 * `KPU1xx` admission, `2xx` node class, `3xx` provisioning and machines, `4xx` disruption, `6xx` the command line; `5xx` is
 * kept for workflows. A code keeps its meaning for ever: one that is no longer given moves to
 * {@link retired} and is not used again, since somebody's alert or search still means the old thing.
 */
export const codes = inOrder({
  ...admission,
  ...nodeClass,
  ...machines,
  ...bootstrap,
  ...quotas,
  ...repair,
  ...leftovers,
  ...disruption,
  ...cli,
});

/** Files are by what they are about, and what is about one thing may be of several chapters. */
function inOrder<T extends object>(table: T): T {
  const entries = Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries) as T;
}

export type Code = keyof typeof codes;

/** Codes that were given once, with what they meant. */
export const retired: Readonly<Record<string, string>> = {};
