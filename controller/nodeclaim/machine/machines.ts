import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { AddressRecord, DnsProvider, RecordHolder } from '#machine/dns/provider.ts';
import { MachineError, PlatformUnauthorized, PlatformUnavailable } from '#machine/errors.ts';
import type { HostAlias } from '#machine/kraftlet/release.ts';
import type { Instance, PlatformEndpoint } from '#machine/machine.ts';
import { isPublished, machineNames } from '#machine/names.ts';
import { parseProviderID } from '#schemas/provider-id.ts';

import type { Clouds } from '../../clouds.ts';
import type { ClaimInHand, StampedRevision } from '../steps/claim-in-hand.ts';
import type { CredentialStore, MachineCredentials } from './credentials.ts';

const defaultPort = 443;

/**
 * Turns a claim in hand into what the machine room needs: its cloud, its instance, its names and its endpoint.
 * Everything follows from the revision the claim was stamped with, never from the node class as it reads today.
 */
export class Machines {
  readonly #clouds: Clouds;
  readonly #credentials: CredentialStore;

  constructor(clouds: Clouds, credentials: CredentialStore) {
    this.#clouds = clouds;
    this.#credentials = credentials;
  }

  /** Steps run only after the reservation step has given the claim a revision. */
  revision(hand: ClaimInHand): StampedRevision {
    if (!hand.revision) throw new Error(`claim ${hand.identity.claim} has no node class revision`);
    return hand.revision;
  }

  async cloud(hand: ClaimInHand): Promise<CloudProvider> {
    return this.#clouds.for(this.revision(hand).nodeClass.spec);
  }

  /** The launched instance as the cloud showed it at most some seconds ago; undefined when it is not shown. */
  async instance(hand: ClaimInHand, signal: AbortSignal): Promise<Instance | undefined> {
    const id = parseProviderID(hand.status.providerID ?? '')?.id;
    const cloud = await this.cloud(hand);
    const { nodeClass } = this.revision(hand);
    const shown = await cloud.snapshot(nodeClass, hand.identity.clusterUid, signal);
    return shown.find((instance) => instance.id === id);
  }

  /**
   * The launched instance where no list shows it though it is there: one whose tags somebody took off. They are put
   * back, or it could not be ended; where that is refused, it is the instance all the same.
   *
   * @returns undefined when the cloud knows none, and for another one that has its name by now
   */
  async untagged(hand: ClaimInHand, signal: AbortSignal): Promise<Instance | undefined> {
    const id = parseProviderID(hand.status.providerID ?? '')?.id;
    const { care } = await this.cloud(hand);
    if (!care || id === undefined) return undefined;
    const { nodeClass } = this.revision(hand);
    const [found] = await care.byId(nodeClass, [id], signal);
    if (!found || found.state === 'terminated') return undefined;
    try {
      await care.retag(nodeClass, found, hand.identity, signal);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      if (error.reason === 'NameTaken') return undefined;
    }
    return found;
  }

  /**
   * What the machine was told at its launch, or will be. New ones would make another machine of it, so there are
   * none in their place.
   *
   * @throws PlatformUnauthorized when they have been deleted
   */
  async credentials(hand: ClaimInHand): Promise<MachineCredentials> {
    const found = await this.#credentials.get(hand);
    if (found) return found;
    const { name } = hand.identity;
    throw new PlatformUnauthorized(`The Secret with the token and key of machine ${name} is gone`);
  }

  /** Where Kraftlet and the controller reach the platform. */
  async endpoint(hand: ClaimInHand): Promise<PlatformEndpoint> {
    const { nodeClass } = this.revision(hand);
    const { token, tls } = await this.credentials(hand);
    return {
      fqdn: this.fqdn(hand),
      address: this.#address(hand),
      port: nodeClass.spec.platform?.port ?? defaultPort,
      token,
      ca: tls?.ca,
    };
  }

  /** The name of the platform API, which is the one in the certificate. */
  fqdn(hand: ClaimInHand): string {
    return machineNames(this.revision(hand).nodeClass.spec.dns, hand.identity.name).api;
  }

  /** What names of the machine shall be found by others; none where they are written nowhere. */
  records(hand: ClaimInHand): AddressRecord[] {
    const { dns } = this.revision(hand).nodeClass.spec;
    if (!isPublished(dns)) return [];
    const address = this.#address(hand);
    return machineNames(dns, hand.identity.name).all.map((name) => ({
      name,
      address,
      ttl: dns.ttl ?? 60,
    }));
  }

  /** Names that Kraftlet has to be told with their address, since nobody else knows them. */
  hostAliases(hand: ClaimInHand): HostAlias[] {
    const { dns } = this.revision(hand).nodeClass.spec;
    if (isPublished(dns)) return [];
    const { api, index } = machineNames(dns, hand.identity.name);
    const hostnames = [api, index].filter((name) => name !== undefined);
    return [{ ip: this.#address(hand), hostnames }];
  }

  async writeRecords(hand: ClaimInHand, signal: AbortSignal): Promise<void> {
    const dns = await this.#dns(hand);
    const { dnsZoneID } = this.revision(hand).nodeClass;
    await dns.upsert(dnsZoneID, this.records(hand), holderOf(hand), signal);
  }

  /** Takes away every record the machine can have, also those of a launch that did not get to the end. */
  async removeRecords(hand: ClaimInHand, signal: AbortSignal): Promise<void> {
    const dns = await this.#dns(hand);
    const { spec, dnsZoneID } = this.revision(hand).nodeClass;
    const { all } = machineNames(spec.dns, hand.identity.name);
    await dns.remove(dnsZoneID, all, holderOf(hand), signal);
  }

  /** Why its names are not there yet, where whoever writes them is known to be the reason. */
  async hindrance(hand: ClaimInHand, signal: AbortSignal): Promise<string | undefined> {
    const dns = await this.#dns(hand);
    return dns.hindrance?.(holderOf(hand), signal);
  }

  /** Names that may lead to the machine for a while after they were removed, since somebody else does that. */
  async lingering(hand: ClaimInHand, signal: AbortSignal): Promise<AddressRecord[]> {
    const { isDelegated } = await this.#dns(hand);
    if (isDelegated !== true) return [];
    hand.instance ??= await this.instance(hand, signal);
    return this.#addressIn(hand) === undefined ? [] : this.records(hand);
  }

  async #dns(hand: ClaimInHand): Promise<DnsProvider> {
    return this.#clouds.dns(this.revision(hand).nodeClass.spec);
  }

  #addressIn(hand: ClaimInHand): string | undefined {
    const { addressType = 'Internal' } = this.revision(hand).nodeClass.spec.dns;
    const { privateAddress, publicAddress } = hand.instance ?? {};
    return addressType === 'Internal' ? privateAddress : publicAddress;
  }

  #address(hand: ClaimInHand): string {
    const address = this.#addressIn(hand);
    if (address !== undefined) return address;
    const { addressType = 'Internal' } = this.revision(hand).nodeClass.spec.dns;
    throw new PlatformUnavailable(
      `Instance ${hand.instance?.id ?? ''} has no ${addressType.toLowerCase()} address`,
    );
  }
}

function holderOf({ identity }: ClaimInHand): RecordHolder {
  const { clusterUid, claimUid, claim } = identity;
  return { clusterUid, claimUid, claim };
}
