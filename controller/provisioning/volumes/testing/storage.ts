/** Storage in an API in memory, as plain as can be. */
import type {
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeClaim,
} from '#schemas/kubernetes/core.ts';
import {
  csiNodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '#schemas/kubernetes/resource.ts';
import { annotations, labels } from '#schemas/names.ts';

import type { MemoryClient } from '../../../testing/memory-client.ts';

export const ebs = 'ebs.csi.aws.com';
/** Of a volume. */
export const csi = { csi: { driver: ebs } };

/** A volume of a Pod that is a claim's. */
export const mounts = (...claims: readonly string[]) => ({
  volumes: claims.map((claimName) => ({
    name: claimName,
    persistentVolumeClaim: { claimName },
  })),
});

export const inZone = (...values: string[]): NodeSelectorRequirement[] => [
  { key: labels.zone, operator: 'In', values },
];

/** Any of these terms will do. */
export const onNodes = (...terms: (readonly NodeSelectorRequirement[])[]) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: terms.map((all) => ({ matchExpressions: [...all] })) },
  },
});

export interface ClassParts {
  readonly provisioner?: string;
  readonly mode?: 'Immediate' | 'WaitForFirstConsumer';
  readonly zones?: readonly string[];
}

export class StorageWorld {
  readonly #client: MemoryClient;

  constructor(client: MemoryClient) {
    this.#client = client;
  }

  /** One that is not bound, of a class. */
  claim(name: string, storageClassName: string, parts: Partial<PersistentVolumeClaim> = {}): void {
    const { metadata, ...rest } = parts;
    this.#client.seed(persistentVolumeClaims, {
      metadata: { namespace: 'shop', name, ...metadata },
      spec: { storageClassName },
      status: { phase: 'Pending' },
      ...rest,
    });
  }

  /** One that is bound to the volume of its name. */
  bound(name: string, volume: PersistentVolume['spec'], parts: BoundParts = {}): void {
    const { storageClassName = 'fast', owner, volumeLabels = {} } = parts;
    this.#client.seed(persistentVolumes, {
      metadata: { name: `pv-${name}`, labels: volumeLabels },
      spec: volume ?? {},
    });
    this.claim(name, storageClassName, {
      metadata: {
        annotations: { [annotations.bindCompleted]: 'yes' },
        ...(owner && {
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner }],
        }),
      },
      spec: { storageClassName, volumeName: `pv-${name}` },
      status: { phase: 'Bound' },
    });
  }

  storageClass(name: string, parts: ClassParts = {}): void {
    const { provisioner = ebs, mode = 'WaitForFirstConsumer', zones = [] } = parts;
    this.#client.seed(storageClasses, {
      metadata: { name },
      provisioner,
      volumeBindingMode: mode,
      ...(zones.length > 0 && {
        allowedTopologies: zones.map((zone) => ({
          matchLabelExpressions: [{ key: labels.zone, values: [zone] }],
        })),
      }),
    });
  }

  /** What the node attaches of each driver; null: as many as may be. */
  csiNode(name: string, counts: Readonly<Record<string, number | null>>): void {
    const drivers = Object.entries(counts).map(([driver, count]) => ({
      name: driver,
      ...(count !== null && { allocatable: { count } }),
    }));
    this.#client.seed(csiNodes, { metadata: { name }, spec: { drivers } });
  }
}

export interface BoundParts {
  readonly storageClassName?: string;
  /** UID of the Pod that it belongs to. */
  readonly owner?: string;
  readonly volumeLabels?: Readonly<Record<string, string>>;
}
