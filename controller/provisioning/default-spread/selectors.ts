import type { InformerHandler } from '#kube/cache/informer.ts';
import type { Pod, Service } from '#schemas/kubernetes/core.ts';
import type { KubeObject, LabelSelector, OwnerReference } from '#schemas/kubernetes/meta.ts';

import type { SpreadCaches } from './caches.ts';

type Labels = Readonly<Record<string, string>>;
type Selecting = KubeObject & { readonly spec?: { selector?: object } };
type Selectors = readonly LabelSelector[];

const noLabels: Labels = {};
const none: Selectors = [];
const nobody: OwnerReference = { apiVersion: '', kind: '', name: '', uid: '' };
const replicationController = 'v1 ReplicationController';
const replicaSet = 'apps/v1 ReplicaSet';
const statefulSet = 'apps/v1 StatefulSet';
const kinds: ReadonlySet<string> = new Set([replicationController, replicaSet, statefulSet]);
const byPair = 'namespace and one label of the selector';

/**
 * Whom a Pod counts as its like: those that all its Services select, and its controller too. Controllers of other kinds
 * (Job, DaemonSet, custom ones) say nothing, and one that is not known is passed over, as kube-scheduler does.
 *
 * Pods of one template share their labels in memory, so what was found for one is known of all until a Service or a
 * controller comes, goes, or selects others. They get the very same list, so that it travels to the solver once.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework/plugins/helper/spread.go.
 */
export class PodSelectors {
  readonly #caches: SpreadCaches;
  /** By the labels themselves, then by namespace and controller. */
  #known = new WeakMap<Labels, Map<string, Selectors>>();

  constructor(caches: SpreadCaches) {
    this.#caches = caches;
    caches.services.addIndex(byPair, pairOf);
    const handler: InformerHandler<Selecting> = {
      add: () => this.#forget(),
      delete: () => this.#forget(),
      update: (now, old) => {
        if (textOf(now) !== textOf(old)) this.#forget();
      },
    };
    for (const cache of Object.values(caches)) cache.subscribe(handler);
  }

  /** All of them must hold; empty where nobody selects the Pod, or where its Services select everything. */
  of(pod: Pod): Selectors {
    const { labels = noLabels, namespace = '' } = pod.metadata ?? {};
    const owner = controllerOf(pod);
    const asked = [namespace, owner.apiVersion, owner.kind, owner.name].join(' ');
    const known = this.#known.get(labels) ?? new Map<string, Selectors>();
    this.#known.set(labels, known);
    const found = known.get(asked) ?? this.#find(namespace, labels, owner);
    known.set(asked, found);
    return found;
  }

  #forget(): void {
    this.#known = new WeakMap();
  }

  #find(namespace: string, labels: Labels, owner: OwnerReference): Selectors {
    const kind = kindOf(owner);
    const key = `${namespace}/${owner.name}`;
    const matchLabels = this.#ofServices(namespace, labels);
    if (kind === replicationController)
      Object.assign(matchLabels, this.#caches.replicationControllers.get(key)?.spec?.selector);
    const own = this.#cacheOf(kind)?.get(key)?.spec?.selector ?? {};
    const all = [{ matchLabels }, own].filter(saysSomething);
    return all.length > 0 ? all : none;
  }

  #cacheOf(kind: string): SpreadCaches['replicaSets'] | undefined {
    if (kind === replicaSet) return this.#caches.replicaSets;
    return kind === statefulSet ? this.#caches.statefulSets : undefined;
  }

  /** A Service is looked at only for the Pods that have one of its labels, so many Services cost little. */
  #ofServices(namespace: string, labels: Labels): Record<string, string> {
    const pairs = Object.entries(labels).map((pair) => pairText(namespace, pair));
    const selectors = pairs
      .flatMap((pair) => this.#caches.services.by(byPair, pair))
      .map(({ spec }) => spec?.selector ?? noLabels)
      .filter((selector) =>
        Object.entries(selector).every(([key, value]) => labels[key] === value),
      );
    return Object.assign({}, ...selectors) as Record<string, string>;
  }
}

/** Its controller, where that is of a kind that selects Pods. */
function controllerOf({ metadata }: Pod): OwnerReference {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller) ?? nobody;
  return kinds.has(kindOf(owner)) ? owner : nobody;
}

function kindOf({ apiVersion, kind }: OwnerReference): string {
  return `${apiVersion} ${kind}`;
}

function pairOf({ metadata, spec }: Service): string[] {
  const [pair] = Object.entries(spec?.selector ?? noLabels);
  return pair ? [pairText(metadata?.namespace ?? '', pair)] : []; // without any it selects all and says nothing
}

function pairText(namespace: string, [key, value]: readonly [string, string]): string {
  return `${namespace} ${key}=${value}`;
}

function saysSomething({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length > 0 || matchExpressions.length > 0;
}

function textOf({ spec }: Selecting): string {
  return JSON.stringify(spec?.selector ?? {});
}
