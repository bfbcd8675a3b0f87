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
import type { Found, Place } from './place.ts';
import { ByAny } from './places/by-any.ts';
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
      ...byAny(zones.map((zone) => new NamesThere(zone))),
      ...byAny(challenged.map((where) => new ChallengesThere(where))),
      ...byAny(regions.map((region) => new InstancesThere(region))),
      ...byAny(regions.map((region) => new PartsThere(region))),
      new NodesThere(this.#context, new Set(revisions.map(regionOfClass))),
    ] as readonly Place[];
  }

  /** The newest first: of several that lead to one place its credentials are likely the best. */
  #revisions(): ResolvedNodeClass[] {
    const stored = this.#context.caches.revisions.list();
    const newest = stored.toSorted((a, b) => b.revision - a.revision);
    return newest.flatMap((one) => resolvedIn(one) ?? []).filter(({ spec }) => placeOf(spec));
  }

  /** One for each set of credentials, as zones are. */
  async #regions(revisions: readonly ResolvedNodeClass[]): Promise<Region[]> {
    const { clusterUid } = this.#context;
    return Promise.all(
      firsts(revisions, wayTo(regionOf)).map(async (nodeClass) => {
        const cloud = await this.#clouds.for(nodeClass.spec);
        return { name: regionOf(nodeClass), cloud, nodeClass, clusterUid };
      }),
    );
  }

  /** Zones that cannot be listed are left out: docs/tasks/dns-updates.md says what that means. */
  async #zones(revisions: readonly ResolvedNodeClass[]): Promise<Zone[]> {
    const { clusterUid } = this.#context;
    const zones = await Promise.all(
      firsts(revisions, wayTo(zoneOf)).map(async (revision) => {
        const { nodeClass, spec, dnsZoneID: id } = revision;
        const dns = await this.#clouds.dns(spec);
        return canList(dns) ? [{ name: zoneOf(revision), id, dns, clusterUid, nodeClass }] : [];
      }),
    );
    return zones.flat();
  }

  /** Zones that some class shows challenges of ACME in, for each account. */
  async #challenged(revisions: readonly ResolvedNodeClass[]): Promise<Challenged[]> {
    const { client, namespace } = this.#context;
    const kinds = firsts(revisions, (one) =>
      JSON.stringify([wayTo(zoneOf)(one), one.spec.certificate.api.acme]),
    );
    const all = await Promise.all(
      kinds.map(async (revision) => {
        const { nodeClass, spec, dnsZoneID: zoneID } = revision;
        const { acme } = spec.certificate.api;
        const dns = acme && (await this.#clouds.dns(spec));
        if (!dns || !takesTexts(dns)) return [];
        const account = new AcmeAccount(client, namespace, acme);
        return [{ account, zone: zoneOf(revision), zoneID, dns, nodeClass }];
      }),
    );
    return all.flat();
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
      { kind: 'certificate' as const, resource: certificates, namespace },
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

/** Several roles of one account see the same machines; without a role it is the operator's own account. */
function regionOf({ spec }: ResolvedNodeClass): string {
  const { cloud, region } = placeOf(spec)!;
  const [, account] = /^arn:[^:]*:iam::([0-9]{12}):/.exec(spec.aws?.assumeRoleARN ?? '') ?? [];
  const owner = account ?? spec.aws?.assumeRoleARN ?? spec.gcp?.project ?? '';
  return [cloud, region, owner].filter((part) => part !== '').join(' ');
}

/** A region that a class leads to: with another class's account nobody would see its machines. */
function regionOfClass({ nodeClass, spec }: ResolvedNodeClass): string {
  const { cloud, region } = placeOf(spec)!;
  return `${nodeClass} ${cloud} ${region}`;
}

/** A zone of Route 53 has an id of its own; elsewhere it is one of its project, or of its server. */
function zoneOf({ spec: { dns, gcp }, dnsZoneID }: ResolvedNodeClass): string {
  const { provider, server = '', port = '' } = dns;
  const project = provider === 'CloudDNS' ? (dns.project ?? gcp?.project ?? '') : '';
  return [provider, project, server, port, dnsZoneID].filter((part) => part !== '').join(' ');
}

/** Tells apart what leads to a place by the credentials, too. */
function wayTo(placeOfOne: (one: ResolvedNodeClass) => string) {
  return (one: ResolvedNodeClass): string => {
    const { aws, dns } = one.spec;
    const { assumeRoleARN, assumeRoleExternalID } = aws ?? {};
    return JSON.stringify([placeOfOne(one), assumeRoleARN, assumeRoleExternalID, dns.tsig]);
  };
}

/** One place for all that have one name. */
function byAny<F extends Found>(places: readonly Place<F>[]): Place<F>[] {
  return [...Map.groupBy(places, ({ name }) => name).values()].map((ways) => new ByAny(ways));
}

/** The first of each kind. */
function firsts<T>(all: readonly T[], kindOf: (one: T) => string): T[] {
  return [...Map.groupBy(all, kindOf).values()].map(([first]) => first!);
}
