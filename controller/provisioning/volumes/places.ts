/** Where volumes can be attached. */
import {
  fromSelector,
  intersect,
  toSelector,
  type Requirements,
} from '#scheduling/requirements.ts';
import type {
  NodeSelectorRequirement,
  PersistentVolume,
  StorageClass,
} from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

/** Any of these will do; none: nowhere; undefined: anywhere. */
export type Places = readonly Requirements[] | undefined;

type Terms = readonly (readonly NodeSelectorRequirement[])[];

/**
 * Of a volume that is there. The host name of a disk or folder on a node is passed over, as upstream does: the node
 * that is to come has another.
 *
 * Sources: Karpenter v1.15, pkg/controllers/provisioning/scheduling/volumetopology.go; for labels k8s.io/kubernetes
 * v1.37, pkg/scheduler/framework/plugins/volumezone.
 */
export function placesOfVolume({ metadata, spec = {} }: PersistentVolume): Places {
  const { nodeAffinity, local, hostPath } = spec;
  const ofHost = ({ key }: NodeSelectorRequirement): boolean =>
    (local ?? hostPath) !== undefined && key === labels.hostname;
  // A term that says nothing fits nothing, as everywhere in Kubernetes.
  const terms = nodeAffinity?.required?.nodeSelectorTerms
    .flatMap(({ matchExpressions: all = [] }) => (all.length > 0 ? [all] : []))
    .map((all) => all.filter((one) => !ofHost(one)));
  return both(placesOf(terms), placesOf(byLabels(metadata?.labels)));
}

/** Of a volume that is to be made. */
export function placesOfClass({ allowedTopologies = [] }: StorageClass): Places {
  if (allowedTopologies.length === 0) return undefined;
  const terms = allowedTopologies.map(({ matchLabelExpressions: all = [] }) =>
    all.map(({ key, values }) => ({ key, operator: 'In' as const, values: [...values] })),
  );
  return placesOf(terms.filter((all) => all.length > 0));
}

/** Places that are of both. Of very many the first are taken, so that one Pod does not keep all others waiting. */
export function both(a: Places, b: Places): Places {
  if (!a || !b) return a ?? b;
  const found = new Map<string, Requirements>();
  for (const one of a) {
    for (const other of b) {
      const place = intersect(one, other);
      if (found.size < mostPlaces && isPossible(place))
        found.set(JSON.stringify(toSelector(place)), place);
    }
  }
  return [...found.values()];
}

/** As planning takes them. */
export function termsOf(places: readonly Requirements[]): NodeSelectorRequirement[][] {
  return places.map((place) => toSelector(place));
}

const mostPlaces = 64;

function placesOf(terms: Terms | undefined): Places {
  if (!terms || terms.some((all) => all.length === 0)) return undefined;
  return joined(terms)
    .map((all) => fromSelector(all))
    .filter(isPossible)
    .slice(0, mostPlaces);
}

/** Several terms that each name values of one and the same label are one: in zone a, or in zone b. */
function joined(terms: Terms): Terms {
  const [first] = terms.flat();
  const isAlike = terms.every(
    (all) => all.length === 1 && all[0]?.operator === 'In' && all[0].key === first?.key,
  );
  if (!first || !isAlike) return terms;
  const values = terms.flat().flatMap((one) => one.values ?? []);
  return [[{ ...first, values: [...new Set(values)] }]];
}

function isPossible(place: Requirements): boolean {
  return [...place.values()].every((set) => !set.isEmpty || set.allowsAbsence);
}

/** Zone and region of a volume, which old provisioners write on it; a volume of several zones has `a__b`. */
function byLabels(given: Readonly<Record<string, string>> = {}): Terms | undefined {
  const own = Object.entries(given).filter(([key]) => zoneKeys.has(key));
  if (own.length === 0) return undefined;
  return [own.map(([key, value]) => ({ key, operator: 'In' as const, values: value.split('__') }))];
}

const zoneKeys: ReadonlySet<string> = new Set([
  labels.zone,
  labels.region,
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
