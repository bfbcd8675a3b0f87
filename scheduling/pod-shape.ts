/**
 * Everything about a Pod that matters to where it can go. Pods of one Deployment have one shape, so what is found out
 * for one is known for all.
 */
import type { Container, Pod, PodSpec, Toleration } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

import { alternativesOf } from './affinity.ts';
import { toAmounts, type Amounts } from './amounts.ts';
import { podRequests } from './pod-requests.ts';
import type { Requirements } from './requirements.ts';

export interface PodShape {
  readonly requests: ResourceList;
  readonly amounts: Amounts;
  readonly alternatives: readonly Requirements[];
  readonly tolerations: readonly Toleration[];
  /** It shares a node with nobody but DaemonSets' Pods; see {@link aloneBecause}. */
  readonly alone: boolean;
  /** Why this solver cannot say where it goes, if it cannot. */
  readonly unjudged: string | undefined;
}

/** A Pod to be placed. */
export interface Candidate {
  /** `namespace/name` */
  readonly key: string;
  readonly pod: Pod;
  readonly shape: PodShape;
}

/** Largest first, since small Pods fill what large ones leave; the rest of the order only makes it one order. */
export function candidatesOf(pods: readonly Pod[]): Candidate[] {
  const shapes = new Map<string, PodShape>();
  const candidates = pods.map((pod) => {
    const spec = pod.spec ?? { containers: [] };
    const id = idOf(spec);
    const shape = shapes.get(id) ?? shapeOf(spec);
    shapes.set(id, shape);
    return { key: `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`, pod, shape };
  });
  return candidates.toSorted(largerFirst);
}

/** @throws InvalidQuantity */
export function shapeOf(spec: PodSpec): PodShape {
  const requests = podRequests(spec);
  return {
    requests,
    amounts: toAmounts(requests),
    alternatives: alternativesOf(spec),
    tolerations: spec.tolerations ?? [],
    alone: isAlone(spec),
    unjudged: unjudgedIn(spec),
  };
}

function idOf(spec: PodSpec): string {
  const sizes = (containers: readonly Container[] = []): unknown[] =>
    containers.map(({ resources, restartPolicy, ports }) => [
      resources,
      restartPolicy,
      ports?.some(({ hostPort }) => hostPort),
    ]);
  const { containers, initContainers, volumes, ...rest } = spec;
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, overhead, resources } =
    rest;
  const { resourceClaims } = rest as { resourceClaims?: unknown };
  return JSON.stringify([
    sizes(containers),
    sizes(initContainers),
    [nodeSelector, affinity, tolerations, topologySpreadConstraints, overhead, resources],
    [volumes?.map((volume) => Object.keys(volume)), resourceClaims],
  ]);
}

/** Terms of inter-Pod rules, of which the contract names only what is needed here. */
interface PodTerm {
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: string;
}

function requiredTerms(rules: Record<string, unknown> | undefined): readonly PodTerm[] {
  const terms = rules?.['requiredDuringSchedulingIgnoredDuringExecution'];
  return Array.isArray(terms) ? (terms as PodTerm[]) : [];
}

function hardSpreads({ topologySpreadConstraints = [] }: PodSpec): readonly PodTerm[] {
  return (topologySpreadConstraints as PodTerm[]).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway',
  );
}

/**
 * Rules that one Pod per node always satisfies are kept that way: required anti-affinity and hard spread over host
 * names (a new node has no other Pods, and adds one to a count of zero), and host ports. It opens more nodes than
 * a full solver, and never one that does not help.
 */
function isAlone(spec: PodSpec): boolean {
  const perHost = [...requiredTerms(spec.affinity?.podAntiAffinity), ...hardSpreads(spec)];
  const ports = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(
    (each) => each.ports ?? [],
  );
  return perHost.length > 0 || ports.some(({ hostPort }) => Boolean(hostPort));
}

/** What would need the Pods, volumes or devices of other nodes to be looked at: refused rather than guessed. */
function unjudgedIn(spec: PodSpec): string | undefined {
  const isElsewhere = ({ topologyKey }: PodTerm): boolean => topologyKey !== labels.hostname;
  if (requiredTerms(spec.affinity?.podAffinity).length > 0) return 'required pod affinity';
  if (requiredTerms(spec.affinity?.podAntiAffinity).some(isElsewhere)) {
    return `required pod anti-affinity over anything but ${labels.hostname}`;
  }
  if (hardSpreads(spec).some(isElsewhere)) {
    return `a DoNotSchedule topology spread over anything but ${labels.hostname}`;
  }
  return unjudgedVolume(spec) ?? unjudgedDevice(spec);
}

function unjudgedVolume({ volumes = [] }: PodSpec): string | undefined {
  const isBound = volumes.some(
    (volume) => 'persistentVolumeClaim' in volume || 'ephemeral' in volume,
  );
  return isBound ? 'a volume with a claim, which would live and die with the machine' : undefined;
}

function unjudgedDevice(spec: PodSpec): string | undefined {
  const { resourceClaims } = spec as { resourceClaims?: unknown[] };
  return resourceClaims?.length ? 'dynamic resource claims' : undefined;
}

function largerFirst(a: Candidate, b: Candidate): number {
  return (
    descending(a.shape.amounts.get('cpu'), b.shape.amounts.get('cpu')) ||
    descending(a.shape.amounts.get('memory'), b.shape.amounts.get('memory')) ||
    ascending(a.pod.metadata?.creationTimestamp, b.pod.metadata?.creationTimestamp) ||
    ascending(a.key, b.key)
  );
}

function descending(a = 0n, b = 0n): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

function ascending(a = '', b = ''): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
