import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { scopeOf } from '#kube/conditions.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { finalizers } from '#schemas/names.ts';
import {
  unikraftNodeClasses,
  type UnikraftNodeClass,
  type UnikraftNodeClassStatus,
} from '#schemas/nodeclass/types.ts';
import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import type { BootstrapSettings } from '../bootstrap-mode.ts';
import { by } from '../caches.ts';
import type { AcmeCertificates } from '../certificates/acme/acme.ts';
import { CertManagerCertificates } from '../certificates/cert-manager.ts';
import { GivenCertificates } from '../certificates/given.ts';
import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { Freshest } from '../freshest.ts';
import { isOurs } from '../ours.ts';
import { Pace } from '../pace.ts';
import { mergeDiff, patchStatus } from '../status-patch.ts';
import { check, type World } from './checks.ts';
import { revisionReady, troubled } from './events.ts';
import type { Findings } from './findings.ts';
import { revisionName, staticPart } from './identity.ts';
import { Lookups } from './lookups.ts';
import { isUnreachable } from './reach.ts';
import { resolvedIn } from './revisions.ts';
import { NodeClassSecrets } from './secrets.ts';
import { statusFrom, type Judged } from './status.ts';
import { StoredRevisions } from './stored-revisions.ts';
import { Termination } from './termination.ts';

export interface NodeClassOptions {
  readonly clouds: Clouds;
  readonly releases: KraftletReleases;
  /** What it knows of its authorities' limits is that of the machines too. */
  readonly acme: Pick<AcmeCertificates, 'check'>;
  /** How machines that call for their secrets are served; undefined: not at all. */
  readonly bootstrap?: BootstrapSettings | undefined;
}

/**
 * Turns each UnikraftNodeClass into a revision that machines can be made from: everything it refers to is looked
 * up, and what was found is stored once and for all as a ControllerRevision. docs/adr/0003 tells why.
 *
 * A spec that does not work leaves the last revision that did in use.
 */
export class NodeClassController implements Reconciler {
  readonly #context: Context;
  readonly #world: World;
  readonly #nodeClasses: Freshest<UnikraftNodeClass>;
  readonly #revisions: StoredRevisions;
  readonly #termination: Termination;
  readonly #pace: Pace;

  constructor(context: Context, options: NodeClassOptions) {
    const { client, caches, clock, namespace, clusterUid } = context;
    const secrets = new NodeClassSecrets(client, namespace, clock);
    const given = new GivenCertificates(client, namespace, clock);
    const certManager = new CertManagerCertificates(client, namespace, clock);
    this.#context = context;
    const { bootstrap } = options;
    const lookups = new Lookups(clock);
    const sources = { secrets, given, certManager };
    this.#world = { ...options, bootstrap, ...sources, lookups, clusterUid };
    this.#nodeClasses = new Freshest(caches.nodeClasses);
    this.#revisions = new StoredRevisions(client, context);
    this.#termination = new Termination(context, this.#revisions, secrets);
    this.#pace = new Pace(clock, seconds(1));
    caches.nodeClasses.subscribe({
      delete: ({ metadata }) => {
        this.#world.lookups.forget(metadata.uid);
        this.#pace.forget(metadata.uid);
      },
    });
  }

  /** @param key name of a UnikraftNodeClass */
  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const nodeClass = this.#nodeClasses.get(key);
    if (!nodeClass) return this.#sweep(key);
    try {
      if (nodeClass.metadata.deletionTimestamp === undefined) {
        return await this.#keep(await this.#held(nodeClass), signal);
      }
      await this.#termination.run(nodeClass);
      return {};
    } catch (error) {
      if (isNotFound(error)) return {};
      if (isConflict(error)) return { requeueAfter: seconds(1) };
      throw error;
    }
  }

  /** Somebody took the finalizer off by hand: what was made for the class still goes. */
  async #sweep(key: string): Promise<Result> {
    const users = this.#context.caches.nodeClaims.by(by.nodeClass, key).filter(isOurs);
    if (users.length === 0 && this.#revisions.of(key).length > 0) {
      await this.#termination.removeMadeFor(key);
    }
    return {};
  }

  /** With the finalizer, before anything is made for it. */
  async #held(nodeClass: Live<UnikraftNodeClass>): Promise<Live<UnikraftNodeClass>> {
    const { name, resourceVersion, finalizers: present = [] } = nodeClass.metadata;
    if (present.includes(finalizers.nodeClass)) return nodeClass;
    const body = { metadata: { resourceVersion, finalizers: [...present, finalizers.nodeClass] } };
    const { client } = this.#context;
    return this.#took(await client.patch(unikraftNodeClasses, { name }, { type: 'merge', body }));
  }

  async #keep(nodeClass: Live<UnikraftNodeClass>, signal: AbortSignal): Promise<Result> {
    const pinned = this.#revisions.forSpec(nodeClass);
    const stored = pinned && resolvedIn(pinned);
    const findings = await check(nodeClass, stored?.image, this.#world, signal);
    const update = findings.placement
      ? revisionName(nodeClass.metadata.name, nodeClass.spec, {
          imageID: findings.placement.image.id,
          certificate: findings.certificate ?? stored?.certificate,
        })
      : pinned?.metadata.name;
    const isUsable = await this.#store(nodeClass, update, findings);
    const inUse = this.#stillStored(nodeClass);
    const current = isUsable ? update : inUse?.metadata.name;
    const pause = await this.#tell(nodeClass, {
      findings,
      update,
      current,
      stored,
      inUse: inUse && resolvedIn(inUse),
      machines: this.#machines(nodeClass),
    });
    await this.#revisions.prune(nodeClass.metadata.name, [current, update]);
    return { requeueAfter: Math.min(pause, this.#due(nodeClass)) };
  }

  /** @returns whether machines can be made from the newest spec */
  async #store(
    nodeClass: Live<UnikraftNodeClass>,
    name: string | undefined,
    { placement, dnsZoneID, certificate, troubles }: Findings,
  ): Promise<boolean> {
    if (name === undefined || !placement || dnsZoneID === undefined || troubles.length > 0) {
      return false;
    }
    const resolved = {
      nodeClass: nodeClass.metadata.name,
      spec: staticPart(nodeClass.spec),
      ...placement,
      dnsZoneID,
      ...(certificate !== undefined && { certificate }),
    };
    const { number, written } = await this.#revisions.ensure(name, nodeClass, resolved);
    if (written) this.#context.recorder.record(revisionReady(nodeClass, name, number));
    return true;
  }

  /** The revision that machines were made from until now. */
  #stillStored({
    metadata,
    status,
  }: Live<UnikraftNodeClass>): Live<ControllerRevision> | undefined {
    const name = status?.currentRevision;
    return this.#revisions.of(metadata.name).find((one) => one.metadata.name === name);
  }

  /**
   * `observedGeneration` comes last of all: only when every pool shows what these conditions mean for it may a
   * deployment tool believe that the change has arrived.
   *
   * @returns how long until a count that was held back can be written; Infinity when none was
   */
  async #tell(nodeClass: Live<UnikraftNodeClass>, judged: Judged): Promise<Duration> {
    const { clock, recorder } = this.#context;
    const scope = scopeOf(nodeClass, clock.stamp());
    const status = statusFrom(nodeClass.status ?? {}, judged, scope);
    if (this.#poolsOf(nodeClass).every((pool) => hasSeen(pool, scope.generation))) {
      status.observedGeneration = scope.generation;
    }
    for (const trouble of judged.findings.troubles) {
      const isTold = trouble.definite || isUnreachable(trouble);
      if (isTold) recorder.record(troubled(nodeClass, trouble));
    }
    for (const caution of judged.findings.cautions) {
      if (caution.isDoubt) recorder.record(troubled(nodeClass, caution));
    }
    return this.#write(nodeClass, status);
  }

  async #write(
    nodeClass: Live<UnikraftNodeClass>,
    status: UnikraftNodeClassStatus,
  ): Promise<Duration> {
    const changes = Object.keys(mergeDiff(nodeClass.status ?? {}, status) ?? {});
    const isCountAlone = changes.length === 1 && changes[0] === 'machines';
    const pause = isCountAlone ? this.#pace.pause(nodeClass.metadata.uid) : 0;
    if (pause > 0) return pause;
    const { client } = this.#context;
    this.#took(await patchStatus(client, unikraftNodeClasses, nodeClass, status));
    if (changes.length > 0) this.#pace.wrote(nodeClass.metadata.uid);
    return Infinity;
  }

  #took(nodeClass: Live<UnikraftNodeClass>): Live<UnikraftNodeClass> {
    this.#nodeClasses.wrote(nodeClass);
    return nodeClass;
  }

  #poolsOf({ metadata }: Live<UnikraftNodeClass>): Live<NodePool>[] {
    return this.#context.caches.nodePools
      .by(by.nodeClass, metadata.name)
      .filter((pool) => isOurs(pool) && pool.metadata.deletionTimestamp === undefined);
  }

  #machines({ metadata }: Live<UnikraftNodeClass>): number {
    return this.#context.caches.nodeClaims.by(by.nodeClass, metadata.name).filter(isOurs).length;
  }

  /** Until an answer is no longer good; never so short that it spins. */
  #due({ metadata }: Live<UnikraftNodeClass>): Duration {
    const due = this.#world.lookups.dueIn(metadata.uid) ?? seconds(60);
    return Math.max(due, milliseconds(100));
  }
}

function hasSeen(pool: NodePool, generation: number): boolean {
  return (pool.status?.nodeClassObservedGeneration ?? -1) >= generation;
}
