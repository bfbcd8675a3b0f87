import type { Informer } from '#kube/cache/informer.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

/** Conditions in the order of a machine's life, and what the story calls them. */
const steps = [
  ['CertificateReady', 'certificate'],
  ['Launched', 'created'],
  ['InstanceRunning', 'running'],
  ['DNSReady', 'dns'],
  ['PlatformHealthy', 'healthy'],
  ['KraftletInstalled', 'kraftlet'],
  ['Registered', 'node'],
  ['Initialized', 'ready'],
] as const;

export interface TimedStep {
  readonly step: string;
  /** Since the claim was first seen. */
  readonly ms: Duration;
}

/** How far one machine is, or how it went. */
export interface ClaimStory {
  readonly name: string;
  readonly nodepool: string;
  instanceType: string;
  zone: string;
  readonly steps: TimedStep[];
  /** What it waits for, in the words of its condition. */
  waiting: string;
  leaving: boolean;
  gone: boolean;
  readonly seenAt: Instant;
}

/**
 * Watches NodeClaims as a person with `kubectl get -w` would, and writes down when each step was first seen done:
 * conditions tell whole seconds only.
 */
export class Timeline {
  readonly #clock: Clock;
  readonly #stories = new Map<string, ClaimStory>();
  readonly #changed: () => void;

  constructor(claims: Informer<NodeClaim>, clock: Clock, changed: () => void = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
    claims.subscribe({
      add: (claim) => this.#look(claim),
      update: (claim) => this.#look(claim),
      delete: (claim) => this.#end(claim),
    });
  }

  /** In the order in which they came. */
  get claims(): readonly ClaimStory[] {
    return [...this.#stories.values()];
  }

  #look(claim: Live<NodeClaim>): void {
    const story = this.#storyOf(claim);
    const conditions = claim.status?.conditions ?? [];
    const ms = this.#clock.now() - story.seenAt;
    for (const [type, step] of steps) {
      if (isTrue(conditions, type) && !story.steps.some((one) => one.step === step)) {
        story.steps.push({ step, ms });
      }
    }
    story.instanceType = claim.metadata.labels?.[labels.instanceType] ?? '';
    story.zone = claim.metadata.labels?.[labels.zone] ?? '';
    story.leaving = claim.metadata.deletionTimestamp !== undefined;
    story.waiting = waitingFor(conditions, story.leaving);
    this.#changed();
  }

  #storyOf(claim: Live<NodeClaim>): ClaimStory {
    const known = this.#stories.get(claim.metadata.uid);
    if (known) return known;
    const story = {
      name: claim.metadata.name,
      nodepool: claim.metadata.labels?.[labels.nodePool] ?? '',
      instanceType: '',
      zone: '',
      steps: [],
      waiting: '',
      leaving: false,
      gone: false,
      seenAt: this.#clock.now(),
    };
    this.#stories.set(claim.metadata.uid, story);
    return story;
  }

  #end(claim: Live<NodeClaim>): void {
    const story = this.#storyOf(claim);
    story.gone = true;
    story.steps.push({ step: 'gone', ms: this.#clock.now() - story.seenAt });
    this.#changed();
  }
}

function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((one) => one.type === type && one.status === 'True');
}

/** The message of the first condition of the life, or of the leaving, that is not True yet. */
function waitingFor(conditions: readonly Condition[], leaving: boolean): string {
  const types = leaving ? ['Drained', 'InstanceTerminated'] : steps.map(([type]) => type);
  const open = types.find((type) => !isTrue(conditions, type));
  return conditions.find(({ type }) => type === open)?.message ?? '';
}
