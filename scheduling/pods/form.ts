/** What a Pod's spec says about where it can go; Pods of one Deployment have one form. */
import type { Container, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

import { alternativesOf } from '../affinity.ts';
import { podRequests } from '../pod-requests.ts';
import type { Requirements } from '../requirements.ts';
import { rulesOf, type PodRules } from '../topology/terms.ts';
import { hostPortsOf, type HostPort } from './host-ports.ts';

export interface PodForm {
  /** Its number in this pass. */
  readonly id: number;
  readonly spec: PodSpec;
  readonly requests: ResourceList;
  /** Kinds of node that it accepts; any will do. */
  readonly alternatives: readonly Requirements[];
  readonly rules: PodRules;
  readonly ports: readonly HostPort[];
}

/** Forms of one pass. */
export class PodForms {
  readonly #known = new Map<string, PodForm>();

  /** @throws InvalidQuantity */
  of({ spec = empty }: Pod): PodForm {
    const text = textOf(spec);
    const known = this.#known.get(text) ?? formOf(this.#known.size, spec);
    this.#known.set(text, known);
    return known;
  }

  get all(): readonly PodForm[] {
    return [...this.#known.values()];
  }
}

const empty: PodSpec = { containers: [] };

function formOf(id: number, spec: PodSpec): PodForm {
  return {
    id,
    spec,
    requests: podRequests(spec),
    alternatives: alternativesOf(spec),
    rules: rulesOf(spec),
    ports: hostPortsOf(spec),
  };
}

/** Pods are looked at again in each pass, and objects of the caches never change. */
const texts = new WeakMap<PodSpec, string>();

function textOf(spec: PodSpec): string {
  const text = texts.get(spec) ?? write(spec);
  texts.set(spec, text);
  return text;
}

/** All that matters, and nothing else: a name or an image more would make each Pod a form of its own. */
function write(spec: PodSpec): string {
  const { containers, initContainers, volumes, resources, overhead } = spec;
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec;
  const { resourceClaims } = spec as { resourceClaims?: unknown };
  return JSON.stringify([
    containers.map(sizeOf),
    initContainers?.map(sizeOf),
    [nodeSelector, affinity, tolerations, topologySpreadConstraints, overhead, resources],
    [volumes?.map((volume) => Object.keys(volume)), resourceClaims],
  ]);
}

function sizeOf({ resources, restartPolicy, ports }: Container): unknown {
  const onHost = ports?.filter(({ hostPort }) => hostPort);
  return [resources?.requests, resources?.limits, restartPolicy, onHost?.length ? onHost : 0];
}
