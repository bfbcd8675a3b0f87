/**
 * What of a Pod travels to the thread: what scheduling/ reads, and nothing else, since each byte is written once and
 * parsed once. The compiler asks for a decision about each field that the types gain; a test watches what is read.
 */
import type { Container, DaemonSet, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ObjectMeta } from '#schemas/kubernetes/meta.ts';

type Decisions<T> = Readonly<Record<keyof T, boolean>>;

const ofSpec = {
  containers: true,
  initContainers: true,
  nodeName: false,
  nodeSelector: true,
  affinity: true,
  tolerations: true,
  topologySpreadConstraints: true,
  overhead: true,
  resources: true,
  priority: false,
  priorityClassName: false,
  preemptionPolicy: false,
  schedulerName: false,
  schedulingGates: false,
  serviceAccountName: false,
  terminationGracePeriodSeconds: false,
  hostNetwork: false,
  hostAliases: false,
  restartPolicy: false,
  os: false,
  volumes: true,
  resourceClaims: true,
} as const satisfies Decisions<PodSpec & { resourceClaims?: unknown }>;

const ofContainer = {
  name: true,
  image: false,
  command: false,
  args: false,
  env: false,
  ports: true,
  resources: true,
  restartPolicy: true,
  volumeMounts: false,
} as const satisfies Decisions<Container>;

/** These stand in the row. */
const ofMetadata = {
  name: true,
  generateName: false,
  namespace: true,
  uid: false,
  resourceVersion: false,
  generation: false,
  creationTimestamp: true,
  deletionTimestamp: true,
  deletionGracePeriodSeconds: false,
  labels: true,
  annotations: false,
  finalizers: false,
  ownerReferences: false,
  managedFields: false,
} as const satisfies Decisions<ObjectMeta>;

type Travelling<D> = { [K in keyof D]: D[K] extends true ? K : never }[keyof D];
type TravellingMetadata = Pick<ObjectMeta, Travelling<typeof ofMetadata>>;

const specKeys = keysIn(ofSpec);
const containerKeys = keysIn(ofContainer);

/** A spec as JSON: of volumes their kinds, of containers what they take. */
export function specText(spec: PodSpec): string {
  return JSON.stringify({
    ...pick(spec, specKeys),
    containers: spec.containers.map(sizeOf),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(sizeOf) }),
    ...(spec.volumes && { volumes: spec.volumes.map(kindOf) }),
  });
}

/** Of a Pod that has a place: its host ports, and whom it keeps away. What it takes is counted already. */
export function boundSpecText({ containers, initContainers, affinity }: PodSpec): string {
  const antiAffinity = affinity?.podAntiAffinity;
  return JSON.stringify({
    containers: containers.flatMap(portsOf),
    ...(initContainers && { initContainers: initContainers.flatMap(portsOf) }),
    ...(antiAffinity && { affinity: { podAntiAffinity: antiAffinity } }),
  });
}

export function daemonSetText({ metadata, spec }: DaemonSet): string {
  const { name, deletionTimestamp } = metadata ?? {};
  const template = spec && `{"spec":${specText(spec.template.spec)}}`;
  const head = JSON.stringify({ name, deletionTimestamp });
  return template === undefined
    ? `{"metadata":${head}}`
    : `{"metadata":${head},"spec":{"template":${template}}}`;
}

/** The Pod that a row tells of. */
export function podOf(
  key: string,
  { spec, ...rest }: Omit<TravellingMetadata, 'name' | 'namespace'> & { readonly spec: PodSpec },
): Pod {
  const slash = key.indexOf('/');
  const metadata: TravellingMetadata = {
    namespace: key.slice(0, slash),
    name: key.slice(slash + 1),
    ...rest,
  };
  return { metadata, spec };
}

function sizeOf(container: Container): Partial<Container> {
  const { ports, ...rest } = pick(container, containerKeys);
  const onHost = ports?.filter(({ hostPort }) => hostPort);
  return { ...rest, ...(onHost?.length && { ports: onHost }) };
}

/** Sidecars keep their ports, other init containers end: `restartPolicy` tells. */
function portsOf(container: Container): Partial<Container>[] {
  const { name, restartPolicy, ports } = sizeOf(container);
  return ports ? [{ name, ...(restartPolicy && { restartPolicy }), ports } as Container] : [];
}

/** `{"persistentVolumeClaim":{}}` */
function kindOf(volume: object): object {
  return Object.fromEntries(Object.keys(volume).map((key) => [key, {}]));
}

function keysIn<D extends Decisions<never>>(decisions: D): readonly (keyof D)[] {
  return (Object.keys(decisions) as (keyof D)[]).filter((key) => decisions[key]);
}

function pick<T extends object>(object: T, keys: readonly PropertyKey[]): Partial<T> {
  const picked: Partial<T> = {};
  for (const key of keys as readonly (keyof T)[]) {
    if (object[key] !== undefined) picked[key] = object[key];
  }
  return picked;
}
