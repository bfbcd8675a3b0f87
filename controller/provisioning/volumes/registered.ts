import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { resolvedIn } from '../../nodeclass/revisions.ts';

type Spec = Pick<UnikraftNodeClassSpec, 'kraftlet'>;

const none: readonly string[] = [];

/**
 * CSI drivers that the Kraftlet of a node class is told of, in `csi.plugins` of its chart's values: a map of names to
 * addresses. Anything else that stands there registers none.
 *
 * Source: Unikraft's Kubernetes integration page, "Third-party CSI drivers".
 */
export function registeredDrivers({ kraftlet }: Spec): readonly string[] {
  const csi = kraftlet.values?.['csi'];
  const plugins = isObject(csi) ? csi['plugins'] : undefined;
  const names = isObject(plugins)
    ? Object.keys(plugins).filter((name) => typeof plugins[name] === 'string' && plugins[name])
    : none;
  return names.length > 0 ? names.toSorted() : none;
}

/** Revisions never change. */
const known = new WeakMap<ControllerRevision, readonly string[]>();

/** Those of machines that were made from a stored revision. */
export function driversOfRevision(revision: ControllerRevision | undefined): readonly string[] {
  if (!revision) return none;
  const spec = resolvedIn(revision)?.spec;
  const drivers = known.get(revision) ?? (spec ? registeredDrivers(spec) : none);
  known.set(revision, drivers);
  return drivers;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
