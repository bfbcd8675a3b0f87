import type { Metrics } from '#kube/metrics.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { annotations, labels } from '#schemas/names.ts';
import { minutes, type Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';
import { toTimestamp } from '#schemas/time/system-clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { allowedDisruptions } from '../../disruption/budgets.ts';
import { countDisrupted } from '../../metrics.ts';
import { coded } from '../../reason.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { ClaimWriter } from '../steps/claim-writer.ts';
import { machineDown } from './conditions.ts';
import { policies, type RepairPolicy } from './diagnosis.ts';
import { tooMany } from './epidemic.ts';
import type { Patient } from './examination.ts';

/** A machine that is to be replaced, and what its drain may take. */
export interface Due extends Patient {
  readonly policy: RepairPolicy;
}

/**
 * Replaces machines that have been down for longer than is tolerated. Their claims are deleted; for the Pods that have to
 * leave the planning has made another machine before they may.
 *
 * As in Karpenter none is while more than a fifth are down at once, since that is hardly the machines' own fault, budgets
 * count (`Unhealthy`), and `karpenter.sh/do-not-repair` on the Node forbids it.
 *
 * Source: Karpenter v1.15, pkg/controllers/disruption/repair.go and pkg/controllers/node/health/policy.go.
 */
export class Replacement {
  readonly #context: Context;
  readonly #writer: ClaimWriter;
  readonly #metrics: Metrics;
  /** UIDs of claims that were deleted, and that the cache may still show as staying. */
  readonly #deleted = new Set<string>();

  constructor(context: Context, writer: ClaimWriter, metrics: Metrics) {
    this.#context = context;
    this.#writer = writer;
    this.#metrics = metrics;
  }

  /** Those whose time is over and that nothing but a budget keeps, which only {@link replace} asks; the oldest first. */
  due(patients: readonly Patient[]): Due[] {
    for (const uid of this.#deleted) {
      if (this.#context.caches.nodeClaims.by(by.uid, uid).length === 0) this.#deleted.delete(uid);
    }
    const late = patients.flatMap((patient) => this.#late(patient));
    const crowds = tooMany(patients);
    return late
      .filter((one) => {
        const against = veto(one) ?? crowds(one.hand);
        if (against !== undefined) this.#blocked(one, against);
        return against === undefined;
      })
      .toSorted((a, b) => downSince(a.hand) - downSince(b.hand));
  }

  async replace(due: Due): Promise<void> {
    const { hand, policy } = due;
    const { caches, recorder } = this.#context;
    const pool = caches.nodePools.get(hand.identity.nodePool ?? '');
    if (!pool) return this.#blocked(due, `its NodePool ${hand.identity.nodePool} is not there`);
    if (hand.is('Initialized') && this.#allowed(pool) <= 0) {
      return this.#blocked(due, 'the budgets allow no disruption for reason Unhealthy now', pool);
    }
    await this.#bound(hand, policy.drain);
    await this.#writer.delete(hand);
    this.#deleted.add(hand.identity.claimUid);
    const why = due.diagnosis.kind === 'machine-down' ? due.diagnosis.why : '';
    const lasted = `for ${Math.round((this.#context.clock.now() - downSince(hand)) / minutes(1))} min`;
    const message = coded(`Disrupting: Unhealthy, the machine is down ${lasted}: ${why}`, 'KPU380');
    for (const object of [hand.claim, due.node]) {
      recorder.record({ object, type: 'Warning', reason: 'DisruptionTerminating', message });
    }
    this.#count(due);
  }

  #late(patient: Patient): Due[] {
    const { diagnosis, hand } = patient;
    if (diagnosis.kind !== 'machine-down' || !hand.is(machineDown)) return [];
    const policy = policies[diagnosis.how];
    const isLate = this.#context.clock.now() - downSince(hand) >= policy.toleration;
    return isLate ? [{ ...patient, policy }] : [];
  }

  /** Machines that are down use up no allowance: it is they who are to go. */
  #allowed(pool: Live<NodePool>): number {
    const claims = this.#context.caches.nodeClaims
      .by(by.nodePool, pool.metadata.name)
      .filter(({ status }) => status?.conditions?.some(isInitialized));
    const leaving = claims.filter((claim) => this.#isLeaving(claim)).length;
    return allowedDisruptions(pool, { nodes: claims.length, leaving, notReady: 0 }, 'Unhealthy');
  }

  #isLeaving({ metadata }: Live<NodeClaim>): boolean {
    return metadata.deletionTimestamp !== undefined || this.#deleted.has(metadata.uid);
  }

  /** A machine that got well before its claim was deleted is drained some day without haste. */
  async unbound(hand: ClaimInHand): Promise<void> {
    if (hand.claim.metadata.annotations?.[annotations.terminationTimestamp] === undefined) return;
    await this.#writer.stamp(hand, { annotations: { [annotations.terminationTimestamp]: null } });
  }

  /** The claim's own terminationGracePeriod may be shorter, and a stamp that is there stays. */
  async #bound(hand: ClaimInHand, drain: Duration): Promise<void> {
    const { metadata, spec } = hand.claim;
    if (metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return;
    const own = parseDuration(spec.terminationGracePeriod ?? 'Never');
    const real = Date.parse(this.#context.clock.stamp());
    const at = toTimestamp(real + Math.min(drain, own));
    await this.#writer.stamp(hand, { annotations: { [annotations.terminationTimestamp]: at } });
  }

  #blocked({ hand, node }: Patient, why: string, pool?: Live<NodePool>): void {
    const objects: KubeObject[] = [hand.claim, node, ...(pool ? [pool] : [])];
    const message = coded(`Machine ${hand.identity.name} is down and stays: ${why}`, 'KPU390');
    for (const object of objects) {
      const note = { object, type: 'Warning', reason: 'NodeRepairBlocked', message } as const;
      this.#context.recorder.record({ ...note, dedupeTimeout: minutes(15) });
    }
  }

  #count({ hand: { claim }, diagnosis, policy }: Due): void {
    countDisrupted(this.#metrics, claim, { reason: 'unhealthy' });
    this.#metrics
      .counter('karpenter_nodeclaims_unhealthy_disrupted_total', 'Machines replaced as down.', [
        'condition',
        'nodepool',
        'capacity_type',
        'image_id',
        'termination_mode',
      ])
      .inc({
        condition: diagnosis.kind === 'machine-down' ? diagnosis.how : '',
        nodepool: claim.metadata.labels?.[labels.nodePool] ?? '',
        capacity_type: claim.metadata.labels?.[labels.capacityType] ?? '',
        image_id: claim.status?.imageID ?? '',
        termination_mode: policy.drain === 0 ? 'forceful' : 'eventual',
      });
  }
}

function veto({ hand, node }: Patient): string | undefined {
  if (node.metadata.annotations?.[annotations.doNotRepair] === 'true')
    return `annotation ${annotations.doNotRepair} of its Node forbids it`;
  if (hand.identity.nodePool === undefined)
    return 'it belongs to no NodePool, so that nobody would make another one';
  return undefined;
}

function downSince(hand: ClaimInHand): number {
  return hand.since(machineDown) ?? Infinity;
}

function isInitialized({ type, status }: { type: string; status: string }): boolean {
  return type === 'Initialized' && status === 'True';
}
