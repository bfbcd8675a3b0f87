/**
 * What `kubectl describe nodeclaim` tells of a machine that comes to be or goes: one event for each condition that
 * came true, with the fact behind it. Conditions say where a machine is; events stay and say how it got there.
 */
import { isTrue } from '#kube/conditions.ts';
import type { EventNote } from '#kube/runtime/events.ts';
import { isPublished, machineNames } from '#machine/names.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { parseProviderID } from '#schemas/provider-id.ts';

import type { ClaimInHand } from './steps/claim-in-hand.ts';

type Fact = (hand: ClaimInHand) => string;

/** By type of condition, in the order of a machine's life. */
const facts: Readonly<Record<string, Fact>> = {
  CertificateReady: ({ identity }) => `Token and certificate of machine ${identity.name} are made`,
  Launched: (hand) => {
    const { [labels.instanceType]: type = 'of some size', [labels.zone]: zone = 'its region' } =
      hand.claim.metadata.labels ?? {};
    return `Instance ${instanceOf(hand)} (${type}) is launched in ${zone} from image ${hand.status.imageID ?? ''}`;
  },
  InstanceRunning: (hand) => {
    const { privateAddress, publicAddress } = hand.instance ?? {};
    const addresses = [privateAddress, publicAddress].filter((one) => one !== undefined);
    return `Instance ${instanceOf(hand)} runs at ${addresses.join(' and ')}`;
  },
  DNSReady: (hand) =>
    isKnown(hand)
      ? `${apiNameOf(hand)} resolves to the machine`
      : `${apiNameOf(hand)} is in no DNS: the operator and Kraftlet know its address`,
  PlatformHealthy: (hand) => `The platform answers healthy at ${apiNameOf(hand)}`,
  KraftletInstalled: ({ identity }) => `The Pod of Kraftlet release ${identity.name} is ready`,
  Registered: ({ status }) => `Node ${status.nodeName} is registered`,
  Initialized: ({ status }) => `Node ${status.nodeName} is ready with ${amountsOf(status)}`,
  Drained: ({ status, identity }) =>
    `No Pod is left to wait for on ${status.nodeName ?? identity.name}`,
  InstanceTerminated: (hand) => `Instance ${instanceOf(hand)} has ended`,
};

/**
 * @param before the conditions as they were read
 * @param hand the claim with its conditions as they were written
 */
export function progress(
  before: readonly Condition[] | undefined,
  hand: ClaimInHand,
): readonly EventNote[] {
  return Object.entries(facts)
    .filter(([type]) => hand.is(type) && !isTrue(before, type))
    .map(([reason, fact]) => ({
      object: hand.claim,
      type: 'Normal',
      reason,
      message: fact(hand),
    }));
}

function instanceOf({ status }: ClaimInHand): string {
  return parseProviderID(status.providerID ?? '')?.id ?? 'none';
}

function isKnown({ revision }: ClaimInHand): boolean {
  return revision === undefined || isPublished(revision.nodeClass.spec.dns);
}

function apiNameOf({ revision, identity }: ClaimInHand): string {
  return revision ? machineNames(revision.nodeClass.spec.dns, identity.name).api : identity.name;
}

/** What people look for first; the rest stands in the status. */
function amountsOf({ allocatable = {} }: ClaimInHand['status']): string {
  return ['cpu', 'memory', 'pods']
    .flatMap((name) => (allocatable[name] === undefined ? [] : `${name} ${allocatable[name]}`))
    .join(', ');
}
