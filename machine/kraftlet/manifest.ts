import { isMap, parseAllDocuments } from 'yaml';

import type { Secret } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';

import { NodeClassError } from '../errors.ts';
import { faults } from '../faults.ts';

/** Kinds that a chart may bring, in the order in which they are applied. Everything else is refused or replaced. */
const allowed: Readonly<Record<string, string>> = {
  ServiceAccount: 'v1',
  Secret: 'v1',
  ConfigMap: 'v1',
  Service: 'v1',
  StatefulSet: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
};
/** The vendor's cluster-wide rights: kustomize/rbac ships them once, and a binding of ours takes the place of these. */
const replaced = new Set(['ClusterRole', 'ClusterRoleBinding']);

/**
 * The objects of a rendered chart that may be applied, in order.
 *
 * @param namespace  where all of them must be
 * @throws NodeClassError (KraftletReady) for YAML that cannot be read, a kind outside the list, another namespace, or
 *   a chart without exactly one StatefulSet
 */
export function objectsIn(manifest: string, namespace: string): KubeObject[] {
  const objects = parse(manifest).filter(({ kind = '' }) => !replaced.has(kind));
  for (const object of objects) check(object, namespace);
  const sets = objects.filter(({ kind }) => kind === 'StatefulSet').length;
  if (sets !== 1) refuse(`has ${sets} StatefulSets; a Kraftlet is exactly one`);
  const order = Object.keys(allowed);
  return objects
    .map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }))
    .toSorted((a, b) => order.indexOf(a.kind ?? '') - order.indexOf(b.kind ?? ''));
}

function parse(manifest: string): KubeObject[] {
  const documents = parseAllDocuments(manifest);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem) {
      throw new NodeClassError(
        faults.chartBroken,
        `The chart renders YAML that cannot be read: ${problem.message.slice(0, 200)}`,
      );
    }
    return isMap(document.contents) ? [document.toJS() as KubeObject] : [];
  });
}

/**
 * A token that is bound to no Pod would let a Kraftlet that was given up go on beside the next one: docs/adr/0027.
 */
function check(object: KubeObject, namespace: string): void {
  const { apiVersion, kind = '', metadata } = object;
  const name = `${kind} ${metadata?.name}`;
  if (!Object.hasOwn(allowed, kind) || allowed[kind] !== apiVersion) {
    refuse(
      `holds ${name} (${apiVersion}), and only these kinds may come with it: ${Object.keys(allowed).join(', ')}`,
    );
  }
  if (metadata?.namespace !== undefined && metadata.namespace !== namespace) {
    refuse(`puts ${name} into namespace ${metadata.namespace}; the release's own is ${namespace}`);
  }
  if ((object as Secret).type === 'kubernetes.io/service-account-token') {
    refuse(`brings a token for ever in ${name}; a Kraftlet may only have that of its Pod`);
  }
}

function refuse(what: string): never {
  throw new NodeClassError(faults.chartRefused, `The Kraftlet chart ${what}.`);
}
