import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type {
  ResolvedNodeClass,
  UnikraftNodeClass,
  UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { checkServed, type BootstrapSettings } from '../bootstrap-mode.ts';
import type { AcmeCertificates } from '../certificates/acme/acme.ts';
import type { CertManagerCertificates } from '../certificates/cert-manager.ts';
import type { GivenCertificates } from '../certificates/given.ts';
import type { Clouds } from '../clouds.ts';
import { coded } from '../reason.ts';
import { cautionsOf } from './cautions.ts';
import { findingsOf, type Answered, type Findings } from './findings.ts';
import { specHash, staticPart } from './identity.ts';
import type { Lookups, Pace } from './lookups.ts';
import { rehearse, resolvePlacement } from './placement.ts';
import type { NodeClassSecrets } from './secrets.ts';
import { troubleOf, type Aspect, type Trouble } from './trouble.ts';
import { mistakesOf } from './validation.ts';

/** Clouds, DNS and registries: seldom, and more seldom while they fail. */
const abroad: Pace = { fresh: minutes(5), first: seconds(5), longest: minutes(1) };
/** One GET of our own API server: often enough that a Secret that appears is noticed within seconds. */
const athome: Pace = { fresh: minutes(1), first: seconds(5), longest: seconds(5) };

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
        const found = await resolvePlacement(subject, clouds, signal);
        return rehearse({ nodeClass: nodeClass.metadata.name, spec }, found, world, signal);
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
  const doubt = placement.value?.doubt;
  const cautions = [...(doubt ? [doubt] : []), ...cautionsOf(spec)];
  return { ...findingsOf(resolved, rest), cautions };
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
