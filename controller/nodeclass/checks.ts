import type { ConditionChange } from '#kube/conditions.ts';
import type { ResolvedPlacement } from '#machine/cloud/provider.ts';
import { MachineError, NodeClassError } from '#machine/errors.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type {
  ResolvedNodeClass,
  UnikraftNodeClass,
  UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { checkServed, type BootstrapSettings } from '../bootstrap/mode.ts';
import type { AcmeCertificates } from '../certificates/acme/acme.ts';
import type { CertManagerCertificates } from '../certificates/cert-manager.ts';
import type { GivenCertificates } from '../certificates/given.ts';
import type { Clouds } from '../clouds.ts';
import { coded } from '../reason.ts';
import { cautionsOf, type Caution } from './cautions.ts';
import { specHash, staticPart } from './identity.ts';
import type { Lookups, Pace } from './lookups.ts';
import { reachIn } from './reach.ts';
import type { NodeClassSecrets } from './secrets.ts';
import { troubleOf, type Aspect, type Trouble } from './trouble.ts';
import { mistakesOf } from './validation.ts';

/** Clouds, DNS and registries: seldom, and more seldom while they fail. */
const abroad: Pace = { fresh: minutes(5), first: seconds(5), longest: minutes(1) };
/** One GET of our own API server: often enough that a Secret that appears is noticed within seconds. */
const athome: Pace = { fresh: minutes(1), first: seconds(5), longest: seconds(5) };

/** What the newest spec of a node class was found to stand on. */
export interface Findings {
  /** What was looked at and found good; conditions of which nothing is known are in neither list. */
  readonly good: readonly Aspect[];
  readonly troubles: readonly Trouble[];
  /** Of what was found good. */
  readonly cautions: readonly Caution[];
  /** Whether the cloud answers, where that is known. */
  readonly reach?: ConditionChange | undefined;
  readonly placement?: ResolvedPlacement;
  readonly dnsZoneID?: string;
  /** Fingerprint of what the user gave to make machines' certificates from. */
  readonly certificate?: string;
}

/** The world that a node class is checked against. */
export interface World {
  readonly clouds: Clouds;
  readonly releases: KraftletReleases;
  readonly secrets: NodeClassSecrets;
  readonly given: Pick<GivenCertificates, 'check'>;
  readonly certManager: Pick<CertManagerCertificates, 'check'>;
  readonly acme: Pick<AcmeCertificates, 'check'>;
  readonly bootstrap: BootstrapSettings | undefined;
  readonly lookups: Lookups;
  readonly clusterUid: string;
}

interface Subject {
  readonly nodeClass: Live<UnikraftNodeClass>;
  readonly spec: UnikraftNodeClassSpec;
  /** The image that a stored revision of this spec has already. */
  readonly pinned: ResolvedNodeClass['image'] | undefined;
}

/** A check that is asked about under a name, so that its answer can be remembered. */
interface Check<T> {
  readonly aspect: Aspect;
  readonly name: string;
  readonly pace: Pace;
  readonly look: () => Promise<T>;
}

/**
 * Everything that the newest spec of a node class needs, looked at side by side: who corrects a manifest sees all
 * that is wrong with it at once.
 *
 * @throws ApiError when our own API server fails
 */
export async function check(
  nodeClass: Live<UnikraftNodeClass>,
  pinned: ResolvedNodeClass['image'] | undefined,
  world: World,
  signal: AbortSignal,
): Promise<Findings> {
  const invalid = validate(nodeClass);
  if (invalid) return { good: [], troubles: [invalid], cautions: [] };
  const subject = { nodeClass, spec: staticPart(nodeClass.spec), pinned };
  const ask = asking(subject, world.lookups, signal);
  const { clouds, secrets, releases } = world;
  const { spec } = subject;
  const [placement, zone, certificate, ...rest] = await Promise.all([
    ask({
      aspect: 'CredentialsReady',
      name: 'placement',
      pace: abroad,
      look: async () => {
        const placed = await resolvePlacement(subject, clouds, signal);
        await rehearse(subject, placed, world, signal);
        return placed;
      },
    }),
    ask({
      aspect: 'DNSReady',
      name: 'dns',
      pace: abroad,
      look: async () => {
        const dns = await clouds.dns(spec);
        return dns.resolveZone(spec.dns.zone, spec.dns.zoneID, signal);
      },
    }),
    ask({
      aspect: 'CertificateReady',
      name: 'certificate',
      pace: athome,
      look: async () => checkCertificate(nodeClass, world, signal),
    }),
    ask({
      aspect: 'CredentialsReady',
      name: 'activation',
      pace: athome,
      look: async () => secrets.checkActivation(spec),
    }),
    ask({
      aspect: 'CredentialsReady',
      name: 'bootstrap',
      pace: athome,
      look: async () => checkServed(spec, world.bootstrap),
    }),
    ask({
      aspect: 'KraftletReady',
      name: 'kraftlet',
      pace: abroad,
      look: async () => releases.probe(spec.kraftlet, signal),
    }),
  ]);
  const resolved = { placement, zone, certificate };
  return { ...found(resolved, rest), cautions: cautionsOf(spec) };
}

interface Answered<T> {
  readonly aspect: Aspect;
  readonly value?: T;
  readonly trouble?: Trouble;
}

function asking({ nodeClass, spec }: Subject, lookups: Lookups, signal: AbortSignal) {
  const { uid } = nodeClass.metadata;
  const hash = specHash(spec);
  lookups.keepOnly(uid, hash);
  return async <T>({ aspect, name, pace, look }: Check<T>): Promise<Answered<T>> => {
    try {
      return { aspect, value: await lookups.ask(uid, `${hash} ${name}`, pace, look) };
    } catch (error) {
      signal.throwIfAborted(); // the end of the process is no news about a node class
      return { aspect, trouble: troubleOf(error, aspect) };
    }
  };
}

interface Resolved {
  readonly placement: Answered<ResolvedPlacement>;
  readonly zone: Answered<string>;
  readonly certificate: Answered<string | undefined>;
}

function found(resolved: Resolved, rest: readonly Answered<void>[]): Omit<Findings, 'cautions'> {
  const { placement, zone, certificate } = resolved;
  const troubles = [placement, zone, certificate, ...rest].flatMap(({ trouble }) => trouble ?? []);
  const looked: Aspect[] = ['ValidationSucceeded', ...placementAspects(placement)];
  const asked = [zone, certificate, ...rest].map(({ aspect }) => aspect);
  const bad = new Set(troubles.map(({ condition }) => condition));
  return {
    good: [...new Set([...looked, ...asked])].filter(
      (aspect) => !bad.has(aspect) && (aspect !== 'CredentialsReady' || looked.includes(aspect)),
    ),
    troubles,
    reach: reachIn(placement),
    ...(placement.value && { placement: placement.value }),
    ...(zone.value !== undefined && { dnsZoneID: zone.value }),
    ...(certificate.value !== undefined && { certificate: certificate.value }),
  };
}

/** What the cloud's answer proves: it takes our credentials even when it knows no such image. */
function placementAspects({ value, trouble }: Answered<ResolvedPlacement>): Aspect[] {
  if (value) return ['CredentialsReady', 'ImageReady', 'PlacementReady'];
  const answered = trouble?.condition === 'ImageReady' || trouble?.condition === 'PlacementReady';
  return answered ? ['CredentialsReady'] : [];
}

/**
 * An image is looked up once for a spec and stays: names that move on must not make a fleet of two images. Only
 * when it is gone from the cloud is the spec asked again, which makes another revision.
 */
async function resolvePlacement(
  { spec, pinned }: Subject,
  clouds: Clouds,
  signal: AbortSignal,
): Promise<ResolvedPlacement> {
  const cloud = await clouds.for(spec);
  if (!pinned) return cloud.resolve(spec, signal);
  try {
    return await cloud.resolve({ ...spec, image: { id: pinned.id } }, signal);
  } catch (error) {
    const isGone = error instanceof NodeClassError && error.condition === 'ImageReady';
    if (!isGone || spec.image.id === pinned.id) throw error;
    return cloud.resolve(spec, signal);
  }
}

/** @returns the fingerprint of what the user gave; machines made from another one would differ */
async function checkCertificate(
  nodeClass: Live<UnikraftNodeClass>,
  { secrets, given, certManager, acme }: World,
  signal: AbortSignal,
): Promise<string | undefined> {
  switch (nodeClass.spec.certificate.api.mode) {
    case 'PrivateCA':
      return secrets.ensureAuthority(nodeClass);
    case 'SecretRef':
      return given.check(nodeClass.spec);
    case 'CertManager':
      await certManager.check(nodeClass.spec);
      return undefined;
    case 'ACME':
      await acme.check(nodeClass.spec, signal);
      return undefined;
    case 'None':
      return undefined;
  }
}

/** Whether machines may be made of what was found: a class that could never launch must not look ready. */
async function rehearse(
  { nodeClass, spec }: Subject,
  placed: ResolvedPlacement,
  { clouds, clusterUid }: World,
  signal: AbortSignal,
): Promise<void> {
  const cloud = await clouds.for(spec);
  const resolved = { nodeClass: nodeClass.metadata.name, spec, ...placed, dnsZoneID: '' };
  try {
    await cloud.rehearse?.(resolved, clusterUid, signal);
  } catch (error) {
    const saysNothing = error instanceof MachineError && !(error instanceof NodeClassError);
    if (!saysNothing) throw error; // a cloud that is away says nothing about the class
  }
}

function validate(nodeClass: UnikraftNodeClass): Trouble | undefined {
  const mistakes = mistakesOf(nodeClass);
  if (mistakes.length === 0) return undefined;
  const message = mistakes.map(withCode).join('; ').slice(0, 1024);
  const condition = 'ValidationSucceeded';
  return { condition, reason: 'NodeClassInvalid', message, definite: true, lasting: true };
}

/** Rules bring a code of their own. */
function withCode(mistake: string): string {
  return /\(KPU\d+\)$/.test(mistake) ? mistake : coded(mistake, 'KPU270');
}

/** One condition for each thing that is known; several troubles of one condition are told together. */
export function changesFrom({ good, troubles, cautions, reach }: Findings): ConditionChange[] {
  const bad = Map.groupBy(troubles, ({ condition }) => condition);
  return [
    ...(reach ? [reach] : []),
    ...good.map((type) => well(type, cautions)),
    ...[...bad].map(([type, all]): ConditionChange => {
      const worst = all.find(({ definite }) => definite) ?? all[0];
      return {
        type,
        status: worst?.definite ? 'False' : 'Unknown',
        reason: worst?.reason ?? '',
        message: [...new Set(all.map(({ message }) => message))].join('; ').slice(0, 1024),
      };
    }),
  ];
}

function well(type: Aspect, cautions: readonly Caution[]): ConditionChange {
  const own = cautions.filter(({ condition }) => condition === type);
  const [first] = own;
  if (!first) return { type, status: 'True' };
  const message = own.map((one) => one.message).join('; ');
  return { type, status: 'True', reason: first.reason, message };
}
