import { isDeepStrictEqual } from 'node:util';

import type { Attachments, NodeInSight } from '#scheduling/solver.ts';
import type { CSINode, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, labels } from '#schemas/names.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import type { Slices } from '../slices.ts';
import { driversOfRevision } from './registered.ts';

type Limits = Readonly<Record<string, number>>;

/** Pods that are on a Node and not over, by its name. */
type Placed = ReadonlyMap<string, readonly Live<Pod>[]>;

/** What nodes in sight say of volumes. It is asked only while a Pod with volumes waits. */
export class NodeVolumes {
  readonly #context: Pick<Context, 'caches' | 'namespace'>;
  readonly #attachedBy: (pod: Live<Pod>) => Attachments;
  /** As told last, by the node as it was seen. */
  readonly #told = new WeakMap<NodeInSight, NodeInSight>();

  constructor(
    context: Pick<Context, 'caches' | 'namespace'>,
    attachedBy: (pod: Live<Pod>) => Attachments,
  ) {
    this.#context = context;
    this.#attachedBy = attachedBy;
  }

  /**
   * @param drivers  whose volumes Pods wait to attach
   * @returns nodes that say the same as before are the very same objects
   */
  async of(
    nodes: readonly NodeInSight[],
    { drivers, placed }: { readonly drivers: readonly string[]; readonly placed: Placed },
    slices: Slices,
  ): Promise<NodeInSight[]> {
    return slices.map(nodes, (node) =>
      isOurs(node)
        ? this.#steady(node, { drivers: this.#registered(node) })
        : this.#limited(node, { drivers, placed }),
    );
  }

  /** Virtual Nodes have no CSINode, and nothing keeps count there. */
  #registered({ kind, name, labels: own }: NodeInSight): readonly string[] {
    const { caches, namespace } = this.#context;
    const claim = kind === 'claim' ? caches.nodeClaims.get(name) : this.#claimOf(name);
    const revision = claim?.metadata.annotations?.[annotations.revision];
    // One that has none yet is given the current one when it is launched.
    const nodeClass = caches.nodeClasses.get(own[labels.nodeClass] ?? '');
    const current = nodeClass?.status?.currentRevision;
    return driversOfRevision(caches.revisions.get(`${namespace}/${revision ?? current ?? ''}`));
  }

  #claimOf(nodeName: string) {
    const providerID = this.#context.caches.nodes.get(nodeName)?.spec?.providerID ?? '';
    return this.#context.caches.nodeClaims.by(by.providerID, providerID)[0];
  }

  #limited(
    node: NodeInSight,
    { drivers, placed }: { readonly drivers: readonly string[]; readonly placed: Placed },
  ): NodeInSight {
    const csiNode = this.#context.caches.csiNodes.get(node.name);
    const limits = csiNode ? limitsOf(csiNode, drivers) : noLimits;
    const limited = Object.keys(limits);
    if (limited.length === 0) return node;
    const on = (placed.get(node.name) ?? []).map(this.#attachedBy);
    return this.#steady(node, { attachLimits: limits, attached: together(on, limited) });
  }

  #steady(node: NodeInSight, more: Partial<NodeInSight>): NodeInSight {
    const now = { ...node, ...more };
    const last = this.#told.get(node);
    if (last && isDeepStrictEqual(last, now)) return last;
    this.#told.set(node, now);
    return now;
  }
}

const noLimits: Limits = {};

function isOurs({ kind, labels: own }: NodeInSight): boolean {
  return kind === 'claim' || own[labels.nodeClass] !== undefined;
}

/**
 * How many volumes of each of these drivers a node attaches. A driver that says no number has no limit; 0 is a number.
 *
 * Source: Karpenter v1.15, pkg/controllers/state/cluster.go.
 */
export function limitsOf({ spec }: CSINode, drivers: readonly string[]): Limits {
  const told = (spec?.drivers ?? []).flatMap(({ name, allocatable }) =>
    allocatable?.count === undefined || !drivers.includes(name)
      ? []
      : [[name, allocatable.count] as const],
  );
  return Object.fromEntries(told);
}

/** The volumes of several Pods, each named once. */
function together(all: readonly Attachments[], drivers: readonly string[]): Attachments {
  const found = drivers.flatMap((driver) => {
    const names = all.flatMap((one) => (Object.hasOwn(one, driver) ? (one[driver] ?? []) : []));
    return names.length > 0 ? [[driver, [...new Set(names)].toSorted()] as const] : [];
  });
  return Object.fromEntries(found);
}
