import { dnsEndpoints } from '#machine/dns/externaldns/endpoint.ts';
import { certificates } from '#schemas/kubernetes/cert-manager.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { AcmeAccount } from '../certificates/acme/account.ts';
import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { releaseResources } from '../nodeclaim/kraftlet/release.ts';
import { isOwnSecret } from '../nodeclaim/machine/own-secrets.ts';
import { resolvedIn } from '../nodeclass/revisions.ts';
import type { Place } from './place.ts';
import { ChallengesThere, type Challenged } from './places/challenges.ts';
import { InstancesThere, type Region } from './places/instances.ts';
import { NamesThere, type Zone } from './places/names.ts';
import { NodesThere } from './places/nodes.ts';
import { ObjectsThere } from './places/objects.ts';
import { PartsThere } from './places/parts.ts';

/**
 * Everywhere that machines can have left something: the regions and zones of every revision that is stored, not of
 * today's node classes alone, and the namespaces that Kraftlet may be put into.
 */
export class Places {
  readonly #context: Context;
  readonly #clouds: Clouds;
  readonly #namespaces: readonly string[];

  /** @param namespaces  of Kraftlet releases */
  constructor(context: Context, clouds: Clouds, namespaces: readonly string[]) {
    this.#context = context;
    this.#clouds = clouds;
    this.#namespaces = namespaces;
  }

  async all(): Promise<readonly Place[]> {
    const revisions = this.#revisions();
    const [regions, zones, challenged] = await Promise.all([
      this.#regions(revisions),
      this.#zones(revisions),
      this.#challenged(revisions),
    ]);
    return [
      ...this.#objects(),
      ...zones.map((zone) => new NamesThere(zone)),
      ...challenged.map((where) => new ChallengesThere(where)),
      ...regions.flatMap((region) => [new InstancesThere(region), new PartsThere(region)]),
      new NodesThere(this.#context, new Set(revisions.map(regionOfClass))),
    ] as readonly Place[];
  }

  /** The newest first: of two that lead to one place its credentials are the better ones. */
  #revisions(): ResolvedNodeClass[] {
    const stored = this.#context.caches.revisions.list();
    const newest = stored.toSorted((a, b) => b.revision - a.revision);
    return newest.flatMap((one) => resolvedIn(one) ?? []).filter(({ spec }) => placeOf(spec));
  }

  async #regions(revisions: readonly ResolvedNodeClass[]): Promise<Region[]> {
    const { clusterUid } = this.#context;
    return Promise.all(
      firsts(revisions, regionOf).map(async ([name, nodeClass]) => {
        const cloud = await this.#clouds.for(nodeClass.spec);
        return { name, cloud, nodeClass, clusterUid };
      }),
    );
  }

  /** Zones that cannot be listed are left out: docs/tasks/dns-updates.md says what that means. */
  async #zones(revisions: readonly ResolvedNodeClass[]): Promise<Zone[]> {
    const { clusterUid } = this.#context;
    const zones = await Promise.all(
      firsts(revisions, zoneOf).map(async ([name, { nodeClass, spec, dnsZoneID: id }]) => {
        const dns = await this.#clouds.dns(spec);
        return canList(dns) ? [{ name, id, dns, clusterUid, nodeClass }] : [];
      }),
    );
    return zones.flat();
  }

  /** Zones that some class shows challenges of ACME in, for each account. */
  async #challenged(revisions: readonly ResolvedNodeClass[]): Promise<Challenged[]> {
    const { client, namespace } = this.#context;
    const all = await Promise.all(
      revisions.map(async (revision) => {
        const { nodeClass, spec, dnsZoneID: zoneID } = revision;
        const { acme } = spec.certificate.api;
        const dns = acme && (await this.#clouds.dns(spec));
        if (!dns || !takesTexts(dns)) return [];
        const account = new AcmeAccount(client, namespace, acme);
        return [{ account, zone: zoneOf(revision), zoneID, dns, nodeClass }];
      }),
    );
    const kinds = firsts(all.flat(), ({ account, zone }) => `${account.name} ${zone}`);
    return kinds.map(([, where]) => where);
  }

  /**
   * Whatever classes say today: none of it is owned by a claim. Certificates before Secrets: cert-manager makes the
   * Secret of one that is there again, and again. What external-dns is asked by takes the names along.
   */
  #objects(): ObjectsThere[] {
    const { client, namespace } = this.#context;
    const isOwn = (object: KubeObject): boolean => isOwnSecret(object, namespace);
    const isShared = this.#namespaces.includes(namespace);
    const there = [
      ...releaseResources.flatMap((resource) =>
        (resource.namespaced ? this.#namespaces : [undefined]).map((where) => ({
          kind: 'release' as const,
          resource,
          namespace: where,
          isOne: (object: KubeObject) => !isOwn(object),
        })),
      ),
      { kind: 'secret' as const, resource: certificates, namespace },
      { kind: 'secret' as const, resource: secrets, namespace, ...(isShared && { isOne: isOwn }) },
      { kind: 'name' as const, resource: dnsEndpoints, namespace },
    ];
    return there.map((objects) => new ObjectsThere(client, objects));
  }
}

function canList(dns: object): dns is Zone['dns'] {
  return 'owned' in dns;
}

function takesTexts(dns: object): dns is Challenged['dns'] {
  return 'removeText' in dns;
}

/** The account is told apart by the role, or the project, that leads there. */
function regionOf({ spec }: ResolvedNodeClass): string {
  const { cloud, region } = placeOf(spec)!;
  const account = spec.aws?.assumeRoleARN ?? spec.gcp?.project ?? '';
  return [cloud, region, account].filter((part) => part !== '').join(' ');
}

/** A region that a class leads to: with another class's account nobody would see its machines. */
function regionOfClass({ nodeClass, spec }: ResolvedNodeClass): string {
  const { cloud, region } = placeOf(spec)!;
  return `${nodeClass} ${cloud} ${region}`;
}

function zoneOf({ spec, dnsZoneID }: ResolvedNodeClass): string {
  return `${spec.dns.provider} ${dnsZoneID}`;
}

/** The first of each kind. */
function firsts<T>(all: readonly T[], kindOf: (one: T) => string): (readonly [string, T])[] {
  return [...Map.groupBy(all, kindOf)].map(([kind, [first]]) => [kind, first!] as const);
}
