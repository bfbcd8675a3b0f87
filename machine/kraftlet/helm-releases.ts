import { createHash } from 'node:crypto';

import type { Secret, StatefulSet } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { taints } from '#schemas/names.ts';
import type { KraftletSpec } from '#schemas/nodeclass/types.ts';

import { NodeClassError } from '../errors.ts';
import { faults } from '../faults.ts';
import type { MachineIdentity } from '../machine.ts';
import { adapted, caSecretName, labelled } from './adapt.ts';
import { type Helm, HelmFailed, type Rendering } from './helm.ts';
import { Limiter } from './limiter.ts';
import { objectsIn } from './manifest.ts';
import type { KraftletReleases, ReleaseRequest } from './release.ts';
import { valuesFor } from './values.ts';

export const defaultNamespace = 'kraftlet';

/** Renderings under way at once: each is a process of some 60 MB. */
const atOnce = 3;
/** Renderings that may wait for those: they are through within a second or two, before anybody looks again. */
const inLine = 12;
/** Renderings that are kept: a machine's release is rendered on each pass of its claim until the Node is there. */
const kept = 256;

export interface HelmReleasesOptions {
  readonly helm: Helm;
  /** Where releases may be: namespaces in which the operator has the rights to make them. */
  readonly namespaces: readonly string[];
  /** The ClusterRole that each Kraftlet is bound to; kustomize/rbac ships it. */
  readonly clusterRole?: string;
}

/** Kraftlet releases by Helm, rendered here and applied by whoever asked. */
export class HelmReleases implements KraftletReleases {
  readonly #helm: Helm;
  readonly #namespaces: readonly string[];
  readonly #clusterRole: string;
  readonly #limiter = new Limiter(atOnce);
  readonly #rendered = new Map<string, string>();

  constructor(options: HelmReleasesOptions) {
    this.#helm = options.helm;
    this.#namespaces = options.namespaces;
    this.#clusterRole = options.clusterRole ?? 'karpenter-unikraft-kraftlet';
  }

  get isBusy(): boolean {
    return this.#limiter.waiting >= inLine;
  }

  async render(request: ReleaseRequest, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const rendering = this.#rendering(request);
    const key = createHash('sha256').update(JSON.stringify(rendering)).digest('base64');
    const manifest = this.#rendered.get(key) ?? (await this.#template(rendering, signal));
    const objects = this.#released(request, manifest);
    this.#keep(key, manifest);
    return objects;
  }

  /** Never from what is kept: the question is whether the chart can be had now. */
  async probe(kraftlet: KraftletSpec, signal: AbortSignal): Promise<void> {
    const request = { ...standIn, kraftlet };
    this.#released(request, await this.#template(this.#rendering(request), signal));
  }

  #rendering(request: ReleaseRequest): Rendering {
    const { chart, version } = request.kraftlet;
    const namespace = this.#namespaceOf(request.kraftlet);
    return {
      release: request.identity.name,
      chart,
      version,
      namespace,
      values: valuesFor(request),
    };
  }

  #released(request: ReleaseRequest, manifest: string): KubeObject[] {
    const { identity, kraftlet, endpoint } = request;
    const namespace = this.#namespaceOf(kraftlet);
    const objects = objectsIn(manifest, namespace).map((object) =>
      object.kind === 'StatefulSet' ? adapted(object as StatefulSet, request) : object,
    );
    const set = objects.find(({ kind }) => kind === 'StatefulSet') as StatefulSet;
    const serviceAccount = set.spec?.template.spec.serviceAccountName ?? 'default';
    const ca = endpoint.ca === undefined ? [] : [caSecret(identity, namespace, endpoint.ca)];
    const binding = bindingOf(identity.name, this.#clusterRole, serviceAccount, namespace);
    return [binding, ...ca, ...objects].map((object) => labelled(object, identity));
  }

  #namespaceOf({ namespace = defaultNamespace }: KraftletSpec): string {
    if (this.#namespaces.includes(namespace)) return namespace;
    throw new NodeClassError(
      faults.namespaceRefused,
      `The operator may not use spec.kraftlet.namespace ${namespace}; choose among ${this.#namespaces.join(', ')}, or add it to KRAFTLET_NAMESPACES`,
    );
  }

  async #template(rendering: Rendering, signal: AbortSignal): Promise<string> {
    const action = async () => this.#helm.template(rendering, signal).catch(asFault);
    return this.#limiter.run(action, signal);
  }

  /** The least recently used one makes room. */
  #keep(key: string, manifest: string): void {
    this.#rendered.delete(key);
    this.#rendered.set(key, manifest);
    const [oldest] = this.#rendered.keys();
    if (this.#rendered.size > kept && oldest !== undefined) this.#rendered.delete(oldest);
  }
}

function caSecret(identity: MachineIdentity, namespace: string, ca: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: caSecretName(identity), namespace },
    type: 'Opaque',
    data: { 'ca.crt': Buffer.from(ca).toString('base64') },
  };
}

/** Kraftlet's rights are cluster-wide (Nodes, Pods of all namespaces), so a binding has no namespace to live in. */
function bindingOf(
  release: string,
  clusterRole: string,
  name: string,
  namespace: string,
): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: release },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  } as KubeObject;
}

/** How Helm 4 begins when it has the chart and cannot make objects of it; anything else is about getting the chart. */
const rendering =
  /^Error: (execution error|YAML parse error|parse error|values don't meet|cannot load|chart requires|\S+\/templates\/)/m;

function asFault(error: unknown): never {
  if (!(error instanceof HelmFailed)) throw error;
  const fault = rendering.test(error.message) ? faults.chartBroken : faults.chartUnavailable;
  const field = fault === faults.chartBroken ? 'spec.kraftlet.values' : 'spec.kraftlet.chart';
  throw new NodeClassError(fault, `${field}: Helm says: ${error.message}`, { cause: error });
}

/** A machine that is none, to try a chart with. */
const standIn: Omit<ReleaseRequest, 'kraftlet'> = {
  identity: {
    name: 'probe',
    claim: 'probe',
    claimUid: '00000000-0000-0000-0000-000000000000',
    nodePool: undefined,
    nodeClass: 'probe',
    clusterUid: '00000000-0000-0000-0000-000000000000',
  },
  endpoint: { fqdn: 'api.probe.invalid', address: '192.0.2.1', port: 443, token: 'probe', ca: '' },
  providerID: 'unikraft://probe/probe/probe/probe',
  architecture: 'amd64',
  nodeLabels: {},
  nodeTaint: taints.unregistered,
  hostAliases: [],
};
