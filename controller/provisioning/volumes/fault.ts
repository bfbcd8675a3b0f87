/** Why a claim cannot be mounted anywhere now, and what a person would do about it. */
import type { PodVolumes } from '#scheduling/solver.ts';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, ukcVolume } from '#schemas/names.ts';

import type { Mount } from './storage.ts';

export type Trouble = NonNullable<PodVolumes['trouble']>;

/** A claim with what it names. */
export interface Found {
  readonly mount: Mount;
  readonly claim: Live<PersistentVolumeClaim> | undefined;
  /** Undefined while it is not bound, or where its volume is gone. */
  readonly volume: Live<PersistentVolume> | undefined;
  /** Of a claim that is not bound. */
  readonly storageClass: Live<StorageClass> | undefined;
}

/**
 * Undefined when the claim is bound, or is bound as soon as its Pod has a node.
 *
 * Sources: Karpenter v1.15, pkg/controllers/provisioning/scheduling/volumetopology.go; k8s.io/kubernetes v1.37,
 * pkg/scheduler/framework/plugins/volumebinding.
 */
export function faultOf(found: Found): Trouble | undefined {
  const { mount, claim } = found;
  const said = claim ? ofClaim(found, claim) : ofMissing(mount);
  if (said === undefined) return undefined;
  return { message: `its volume claim "${mount.claim}" ${said}`, code: 'KPU353' };
}

/** Of a whole kind: nobody can tell what a claim says. */
export function unreadable(kinds: readonly string[]): Trouble {
  const message =
    `has a volume with a claim, and the controller may not read ${kinds.join(', ')}; ` +
    'apply kustomize/rbac of this release';
  return { message, code: 'KPU355' };
}

function ofMissing({ claim, namespace, owner }: Mount): string {
  return owner === undefined
    ? `does not exist; make PersistentVolumeClaim ${namespace}/${claim}`
    : 'is not made yet; kube-controller-manager makes it, and an event on the Pod says why not';
}

function ofClaim(found: Found, claim: Live<PersistentVolumeClaim>): string | undefined {
  const { metadata, spec, status } = claim;
  if (!isOwn(found.mount, claim))
    return "is not this Pod's own; delete it, or rename the Pod or its volume";
  if (metadata.deletionTimestamp !== undefined)
    return 'is being deleted; it is gone when no Pod uses it any more, then make it anew';
  if (status?.phase === 'Lost')
    return `has lost its PersistentVolume ${spec?.volumeName ?? ''}; make the claim anew`;
  return spec?.volumeName ? ofBound(found, claim) : ofUnbound(found, claim);
}

function isOwn({ owner }: Mount, { metadata }: Live<PersistentVolumeClaim>): boolean {
  return owner === undefined || (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner);
}

function ofBound({ volume }: Found, { metadata, spec }: Live<PersistentVolumeClaim>) {
  const { volumeName = '' } = spec ?? {};
  if (!volume) return `is of PersistentVolume ${volumeName}, which does not exist; make it`;
  if (volume.metadata.deletionTimestamp !== undefined)
    return `is of PersistentVolume ${volumeName}, which is being deleted; make the claim anew`;
  return metadata.annotations?.[annotations.bindCompleted] === undefined
    ? `is not bound to PersistentVolume ${volumeName} yet; its events say why`
    : undefined;
}

function ofUnbound({ storageClass }: Found, { spec }: Live<PersistentVolumeClaim>) {
  const { storageClassName: name = '' } = spec ?? {};
  if (name === '') return 'is not bound and has no class; set spec.storageClassName';
  if (name === ukcVolume)
    return `is of class ${ukcVolume}, which no machine makes volumes of; use another class`;
  if (!storageClass) return `is of StorageClass ${name}, which does not exist; make it`;
  return storageClass.volumeBindingMode === 'WaitForFirstConsumer'
    ? undefined
    : `is not bound, and volumes of its StorageClass ${name} are made before any Pod has a node; its events say why ${storageClass.provisioner} makes none`;
}
