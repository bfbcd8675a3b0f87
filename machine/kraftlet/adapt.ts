import type {
  Container,
  NodeSelectorTerm,
  PodSpec,
  StatefulSet,
} from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { annotations, labels } from '#schemas/names.ts';

import type { MachineIdentity } from '../machine.ts';
import type { HostAlias, ReleaseRequest } from './release.ts';
import { priorityClassName } from './values.ts';

const caDirectory = '/etc/karpenter-unikraft/ca';
const caVolume = 'karpenter-unikraft-ca';

const caVariable = 'SSL_CERT_DIR';
const insecureVariable = 'KRAFTLET_ALLOW_INSECURE';
/** What a chart says of these is not used. */
const ours = new Set([caVariable, insecureVariable, 'KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION']);

/**
 * Variables of every container of the Kraftlet. Kraftlet has no setting for a CA, but is a Go program, and those read
 * SSL_CERT_DIR; only where there is nothing to trust, with certificate mode None, it is told to check nothing. Its
 * platform-health condition looks its endpoint up among the vendor's metros, where a machine of one's own is not, and
 * would keep the Node NotReady for ever.
 */
function environment(hasCa: boolean): Record<string, string> {
  return {
    ...(hasCa ? { [caVariable]: caDirectory } : { [insecureVariable]: 'true' }),
    KRAFTLET_ENABLE_PLATFORM_HEALTH_CONDITION: 'false',
  };
}

/** The name of the Secret that holds the CA of a machine's platform, `ca.crt`. */
export const caSecretName = (identity: MachineIdentity): string => `${identity.name}-ca`;

/** Labels of everything that is made in the cluster for one machine. None that a chart's own selector could name. */
function labelsOf(identity: MachineIdentity): Record<string, string> {
  return {
    [labels.claimUid]: identity.claimUid,
    [labels.nodeClass]: identity.nodeClass,
  };
}

export function labelled<T extends KubeObject>(object: T, identity: MachineIdentity): T {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labelsOf(identity) } },
  };
}

type Wanted = Pick<ReleaseRequest, 'identity' | 'endpoint' | 'hostAliases'>;

/**
 * The chart's StatefulSet as one machine needs it: one Pod that is not moved for tidiness, never runs on a node that
 * itself is a Kraftlet's, trusts the machine's CA, if it has one, and knows such names of the machine as are in no DNS.
 */
export function adapted(set: StatefulSet, wanted: Wanted): StatefulSet {
  const { identity } = wanted;
  const template = set.spec?.template ?? { spec: { containers: [] } };
  const { metadata, spec } = template;
  return {
    ...set,
    spec: {
      ...set.spec,
      replicas: 1,
      template: {
        ...template,
        metadata: {
          ...metadata,
          labels: { ...metadata?.labels, ...labelsOf(identity) },
          annotations: { ...metadata?.annotations, [annotations.doNotDisrupt]: 'true' },
        },
        spec: podSpec(spec, wanted),
      },
    },
  };
}

function podSpec(spec: PodSpec, { identity, endpoint, hostAliases }: Wanted): PodSpec {
  const hasCa = endpoint.ca !== undefined;
  const { containers, initContainers, volumes = [] } = spec;
  const ca = { name: caVolume, secret: { secretName: caSecretName(identity) } };
  const trusting = (container: Container): Container => adaptedContainer(container, hasCa);
  return {
    ...spec,
    priorityClassName,
    affinity: { ...spec.affinity, nodeAffinity: awayFromKraftlets(spec.affinity?.nodeAffinity) },
    containers: containers.map(trusting),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(trusting) }),
    volumes: [...volumes.filter(({ name }) => name !== caVolume), ...(hasCa ? [ca] : [])],
    ...(hostAliases.length > 0 && { hostAliases: withOurs(spec.hostAliases, hostAliases) }),
  };
}

/** A hosts file gives the first address of a name, and the chart may well name the machine's: ours stand alone. */
function withOurs(
  theirs: PodSpec['hostAliases'] = [],
  ours: readonly HostAlias[],
): NonNullable<PodSpec['hostAliases']> {
  const names = new Set(ours.flatMap(({ hostnames }) => hostnames));
  const others = theirs
    .map(({ ip, hostnames = [] }) => ({
      ip,
      hostnames: hostnames.filter((one) => !names.has(one)),
    }))
    .filter(({ hostnames }) => hostnames.length > 0);
  return mergedByIp([...others, ...ours]);
}

/** The API server merges the list by address, so each may stand in it once. */
function mergedByIp(aliases: readonly HostAlias[]): { ip: string; hostnames: string[] }[] {
  const byIp = Map.groupBy(aliases, ({ ip }) => ip);
  return [...byIp].map(([ip, all]) => ({
    ip,
    hostnames: all.flatMap(({ hostnames }) => hostnames),
  }));
}

function adaptedContainer(container: Container, hasCa: boolean): Container {
  const { env = [], volumeMounts = [] } = container;
  const added = Object.entries(environment(hasCa)).map(([name, value]) => ({ name, value }));
  const mount = { name: caVolume, mountPath: caDirectory, readOnly: true };
  return {
    ...container,
    env: [...env.filter(({ name }) => !ours.has(name)), ...added],
    volumeMounts: [
      ...volumeMounts.filter(({ name }) => name !== caVolume),
      ...(hasCa ? [mount] : []),
    ],
  };
}

type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;

/** Added to every term of the chart, since one term is enough for the scheduler. */
function awayFromKraftlets(affinity: NodeAffinity = {}): NodeAffinity {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const terms: NodeSelectorTerm[] = required?.length ? required : [{}];
  const away = { key: labels.virtualKubelet, operator: 'DoesNotExist' as const };
  const nodeSelectorTerms = terms.map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), away],
  }));
  return { ...affinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}
