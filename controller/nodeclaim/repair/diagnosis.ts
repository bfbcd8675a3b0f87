import { minutes, type Duration } from '#schemas/time/clock.ts';

/** What the controller itself got to hear when it asked the platform on a machine how it is. */
export type Platform =
  | { readonly says: 'healthy' }
  /** It answers, and not all of its checks are healthy, or it does not know its own token any more. */
  | { readonly says: 'sick'; readonly why: string }
  | { readonly says: 'nothing'; readonly why: string };

/** Who is ill: the machine, or only the Kraftlet that fronts it. */
export type Diagnosis =
  | { readonly kind: 'well' }
  | { readonly kind: 'kraftlet-down' }
  | { readonly kind: 'machine-down'; readonly how: 'silent' | 'sick'; readonly why: string }
  /** Kraftlet reaches the machine and the controller does not: the fault lies between the two. */
  | { readonly kind: 'unseen'; readonly why: string };

/**
 * A Node is not Ready when its Kraftlet is gone as well as when its machine is. The platform on the machine, asked past
 * Kraftlet, tells the one from the other:
 *
 * | the platform says | Node Ready | |
 * |---|---|---|
 * | healthy | yes | well |
 * | healthy | no | Kraftlet is down: its release is repaired, the machine stays |
 * | sick | either | the machine is down: Kraftlet's Ready only says that the platform answers |
 * | nothing | no | the machine is down: nobody gets an answer |
 * | nothing | yes | Kraftlet gets one, so that the machine is well enough |
 */
export function diagnose(platform: Platform, isNodeReady: boolean): Diagnosis {
  switch (platform.says) {
    case 'healthy':
      return { kind: isNodeReady ? 'well' : 'kraftlet-down' };
    case 'sick':
      return { kind: 'machine-down', how: 'sick', why: platform.why };
    case 'nothing':
      return isNodeReady
        ? { kind: 'unseen', why: platform.why }
        : { kind: 'machine-down', how: 'silent', why: platform.why };
  }
}

export interface RepairPolicy {
  /** How long a machine may be so before it is replaced. */
  readonly toleration: Duration;
  /** How long its Pods may take to leave. */
  readonly drain: Duration;
}

/**
 * One that does not answer has had time to start anew (metal needs up to 15 minutes from cold, a reboot less), and nobody
 * can end its guests in order. One that is sick may serve its guests all the same, and is given time to get well and then
 * to be emptied.
 *
 * The shape is that of Karpenter v1.15, pkg/cloudprovider/types.go (RepairPolicy); its providers tolerate 10 to 30 minutes.
 */
export const policies: Readonly<Record<'silent' | 'sick', RepairPolicy>> = {
  silent: { toleration: minutes(10), drain: 0 },
  sick: { toleration: minutes(30), drain: minutes(10) },
};
