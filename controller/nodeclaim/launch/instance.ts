import type { KubeClient } from '#kube/client/client.ts';
import { audienceOf, endOfToken } from '#machine/bootstrap/unproven.ts';
import { MachineError, NodeClassError } from '#machine/errors.ts';
import type { Bootstrap, Instance as CloudInstance } from '#machine/machine.ts';
import { renderUserData } from '#machine/userdata/user-data.ts';
import { capacityOf, quotasFor } from '#schemas/instances/capacity.ts';
import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import { annotations } from '#schemas/names.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { formatProviderID } from '#schemas/provider-id.ts';
import { capped, smallerCap } from '#schemas/quotapolicy/ceilings.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { callbackUrl } from '../../bootstrap-mode.ts';
import type { Caches } from '../../caches.ts';
import { corrected, correctionsOf } from '../../nodeclass/corrections.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { ClaimWriter } from '../steps/claim-writer.ts';
import { intentText, type Intent } from '../steps/intent.ts';
import { again, done, end, type Outcome, type Step } from '../steps/step.ts';
import { activationOf } from './activation.ts';

export interface InstanceParts {
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly namespace: string;
  readonly clock: Clock;
  readonly machines: Machines;
  readonly writer: ClaimWriter;
}

/**
 * Makes the one instance that the intent names, or finds the one that an earlier call made: by tag when the intent
 * is from an earlier pass (the answer may have been lost), and by the client token in any case.
 */
export class Instance implements Step {
  readonly condition = 'Launched';
  readonly #parts: InstanceParts;

  constructor(parts: InstanceParts) {
    this.#parts = parts;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { intent } = hand;
    if (!intent) return again();
    const quotas = await this.#quotas(hand, intent, signal);
    try {
      const found = hand.intentIsNew ? undefined : await this.#adopt(hand, signal);
      const overdue = found ? undefined : await this.#overdue(hand);
      if (overdue) return overdue;
      this.#record(hand, found ?? (await this.#launch(hand, intent, quotas, signal)), quotas);
      return done();
    } catch (error) {
      if (error instanceof MachineError) return this.#afterFailure(hand, intent, error);
      throw error;
    }
  }

  async #adopt(hand: ClaimInHand, signal: AbortSignal): Promise<CloudInstance | undefined> {
    const cloud = await this.#parts.machines.cloud(hand);
    const { nodeClass } = this.#parts.machines.revision(hand);
    const made = await cloud.find(nodeClass, hand.identity, signal);
    return made.find(({ state }) => state === 'pending' || state === 'running');
  }

  async #launch(
    hand: ClaimInHand,
    intent: Intent,
    quotas: PlatformQuotas,
    signal: AbortSignal,
  ): Promise<CloudInstance> {
    const { nodeClass } = this.#parts.machines.revision(hand);
    const cloud = await this.#parts.machines.cloud(hand);
    const bootstrap = await this.#bootstrap(hand, nodeClass, quotas);
    const userData = renderUserData(bootstrap, placeOf(nodeClass.spec)?.cloud ?? 'aws');
    const request = { identity: hand.identity, nodeClass, candidate: intent, userData };
    return cloud.launch(request, signal);
  }

  async #bootstrap(
    hand: ClaimInHand,
    nodeClass: ResolvedNodeClass,
    quotas: PlatformQuotas,
  ): Promise<Bootstrap> {
    const { machines } = this.#parts;
    const { platform } = nodeClass.spec;
    return {
      fqdn: machines.fqdn(hand),
      port: platform?.port ?? 443,
      quotas,
      secrets: await this.#secrets(hand, nodeClass),
      config: platform?.config ?? {},
      imagePulls: platform?.imagePulls ?? [],
    };
  }

  async #secrets(hand: ClaimInHand, nodeClass: ResolvedNodeClass): Promise<Bootstrap['secrets']> {
    const { token, tls, ticket } = await this.#parts.machines.credentials(hand);
    const url = callbackUrl(nodeClass.spec);
    if (!ticket || url === undefined) {
      return { token, tls, activation: await activationOf(this.#parts, nodeClass) };
    }
    const audience = audienceOf(hand.identity.claimUid);
    const cloud = placeOf(nodeClass.spec)?.cloud ?? '';
    return { callback: { url, ...ticket, audience, cloud } };
  }

  /** A machine that came up after that would get nothing, and nobody would know why. */
  async #overdue(hand: ClaimInHand): Promise<Outcome | undefined> {
    const { machines, clock } = this.#parts;
    const { ticket } = await machines.credentials(hand);
    if (!ticket || endOfToken(ticket.token) > Date.parse(clock.stamp())) return undefined;
    const message =
      'The time in which the machine could call for its secrets is over before it was launched; ' +
      'the claim ends and another machine is tried (KPU386)';
    return end({ metric: 'bootstrap_timeout', reason: 'BootstrapTokenExpired', message });
  }

  /** What the machine's platform will allow: the size as the stamped revision makes it, under the intent's cap. */
  async #quotas(hand: ClaimInHand, intent: Intent, signal: AbortSignal): Promise<PlatformQuotas> {
    const { nodeClass } = this.#parts.machines.revision(hand);
    const cloud = await this.#parts.machines.cloud(hand);
    const sizes = await cloud.sizes(nodeClass, signal);
    const size = sizes.find(({ type }) => type.name === intent.instanceType);
    const own = size && quotasFor(size.type, nodeClass.spec.platform);
    const quotas = own && capped(own, intent.cap ?? {});
    if (quotas) return quotas;
    throw new NodeClassError(
      { code: 'KPU203', condition: 'PlacementReady', reason: 'SizeNotSold' },
      `Size ${intent.instanceType} is not sold to node class ${nodeClass.nodeClass} any more`,
    );
  }

  /** The quotas are what the user data asks for; what its platform makes of them may have been learned before. */
  #record(hand: ClaimInHand, instance: CloudInstance, quotas: PlatformQuotas): void {
    const { name, nodeClass } = this.#parts.machines.revision(hand);
    const { id, region, zone, imageId } = instance;
    const cloud = placeOf(nodeClass.spec)?.cloud ?? '';
    const { status } = this.#parts.caches.nodeClasses.get(hand.identity.nodeClass) ?? {};
    const { instanceType = '', cap = {} } = hand.intent ?? {};
    const learned = corrected(quotas, instanceType, correctionsOf(status, name));
    const expected = smallerCap(learned, cap);
    const capacity = capacityOf(expected, nodeClass.spec.platform);
    Object.assign(hand.status, {
      providerID: formatProviderID({ cloud, region, zone, id }),
      imageID: imageId,
      capacity,
      allocatable: capacity,
    });
  }

  /** No room: give the try up and choose another. A spent token: the same try with the next number. */
  async #afterFailure(hand: ClaimInHand, intent: Intent, error: MachineError): Promise<Outcome> {
    const { writer, clock } = this.#parts;
    const { next } = error;
    if (next === 'try-another') {
      hand.refusal = error;
      await writer.stamp(hand, { annotations: { [annotations.intent]: null } });
      return again();
    }
    if (next === 'next-attempt') {
      const following = { ...intent, attempt: intent.attempt + 1, since: clock.stamp() };
      await writer.stamp(hand, { annotations: { [annotations.intent]: intentText(following) } });
      return again();
    }
    throw error;
  }
}
