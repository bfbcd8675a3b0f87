import { watch, type Watch } from '#kube/runtime/controller.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

import { by, type Caches } from '../caches.ts';
import { isOurs } from '../ours.ts';

/** What wakes a claim: its own wish, and what its steps look at. The kinds of which nothing wakes one have only to be read. */
export function wakes(caches: Caches): readonly Watch[] {
  return [
    watch(caches.nodeClaims, (claim, other) =>
      isOurs(claim) && isAsked(claim, other) ? [claim.metadata.name] : [],
    ),
    watch(caches.nodes, (node, other) => (isNews(node, other) ? claimsOf(caches, node) : [])),
    watch(caches.statefulSets, (set) => claimsMadeFor(caches, set)),
    watch(caches.pods, (pod) => claimsMadeFor(caches, pod)),
    watch(caches.nodeClasses, () => []),
    watch(caches.nodePools, () => []),
    watch(caches.revisions, () => []),
    watch(caches.reservations, () => []),
  ];
}

/**
 * Status, labels and annotations are what the chains write themselves: to be woken by it would make two looks, and two
 * calls to a cloud, of each.
 */
function isAsked(claim: Live<NodeClaim>, other: Live<NodeClaim> | undefined): boolean {
  return other === undefined || wishOf(claim) !== wishOf(other);
}

function wishOf({ metadata }: Live<NodeClaim>): string {
  const { uid, generation, finalizers, deletionTimestamp } = metadata;
  return JSON.stringify([uid, generation, finalizers, deletionTimestamp]);
}

/** Leases aside, a Node's status is written every few seconds; only what a step looks at is news. */
function isNews(node: Live<Node>, other: Live<Node> | undefined): boolean {
  return other === undefined || essence(node) !== essence(other);
}

function essence({ metadata, spec, status }: Live<Node>): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const { labels: own, deletionTimestamp, finalizers } = metadata;
  return JSON.stringify([own, deletionTimestamp, finalizers, spec, status?.allocatable, ready]);
}

/** Also by the label it was born with: the claim's provider id may have been written and not be in the cache yet. */
function claimsOf(caches: Caches, node: Live<Node>): string[] {
  const claims = caches.nodeClaims.by(by.providerID, node.spec?.providerID ?? '');
  return [...claims.map(nameOf), ...claimsMadeFor(caches, node)];
}

/** The claim that a part of a Kraftlet release was made for. */
function claimsMadeFor({ nodeClaims }: Caches, { metadata }: Live<KubeObject>): string[] {
  const uid = metadata.labels?.[labels.claimUid];
  return uid === undefined ? [] : nodeClaims.by(by.uid, uid).map(nameOf);
}

function nameOf({ metadata }: Live<NodeClaim>): string {
  return metadata.name;
}
