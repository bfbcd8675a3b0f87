/** What is known of storage, and which claims a Pod mounts. */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

/** Claims by `namespace/name`, the rest by name; undefined: there is none. */
export interface Storage {
  claim(key: string): Live<PersistentVolumeClaim> | undefined;
  volume(name: string): Live<PersistentVolume> | undefined;
  storageClass(name: string): Live<StorageClass> | undefined;
  /** What may not be read, so that nothing is known of it. */
  readonly forbidden: readonly string[];
}

/** A volume of a Pod that is a claim's. */
export interface Mount {
  readonly claim: string;
  readonly namespace: string;
  /** UID of the Pod that the claim must belong to: it is made for the Pod and goes with it. */
  readonly owner?: string;
}

interface Source {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
}

/** Source: Kubernetes' documentation of generic ephemeral volumes, for how their claims are named. */
export function mountsOf({ metadata, spec }: Live<Pod>): Mount[] {
  const { namespace = '', name, uid } = metadata;
  return ((spec?.volumes ?? []) as readonly Source[]).flatMap((volume) => {
    const { persistentVolumeClaim: claimed } = volume;
    if (claimed) return [{ claim: claimed.claimName ?? '', namespace }];
    return volume.ephemeral ? [{ claim: `${name}-${volume.name}`, namespace, owner: uid }] : [];
  });
}
