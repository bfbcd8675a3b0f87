/** By whom a volume is mounted: the name of its CSI driver, or of what in Kubernetes itself mounts it. */
import type {
  MigratedSource,
  PersistentVolume,
  PersistentVolumeSource,
} from '#schemas/kubernetes/core.ts';

/**
 * Storage that was built into Kubernetes, by the field that names it: how classes call it, and the driver that has
 * replaced it everywhere. kube-scheduler counts its volumes as the driver's.
 *
 * Source: k8s.io/csi-translation-lib v0.37, plugins/.
 */
const migrated: Readonly<Record<keyof MigratedSource, readonly [inTree: string, csi: string]>> = {
  awsElasticBlockStore: ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  gcePersistentDisk: ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  azureDisk: ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  azureFile: ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  cinder: ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  vsphereVolume: ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
  portworxVolume: ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
};

const migratedFields = Object.keys(migrated) as readonly (keyof MigratedSource)[];
const csiByInTree = new Map<string, string>(Object.values(migrated));

/** What no driver replaces. A volume of any other kind is `kubernetes.io/in-tree`. */
const builtIn: Readonly<
  Record<Exclude<keyof PersistentVolumeSource, 'csi' | keyof MigratedSource>, string>
> = {
  hostPath: 'kubernetes.io/host-path',
  local: 'kubernetes.io/local-volume',
  nfs: 'kubernetes.io/nfs',
  iscsi: 'kubernetes.io/iscsi',
  fc: 'kubernetes.io/fc',
};

const builtInFields = Object.keys(builtIn) as readonly (keyof typeof builtIn)[];

/** Of a PersistentVolume. */
export function driverOf({ spec = {} }: PersistentVolume): string {
  if (spec.csi) return spec.csi.driver;
  const replaced = migratedFields.find((field) => spec[field]);
  if (replaced) return migrated[replaced][1];
  const field = builtInFields.find((one) => spec[one]);
  return field ? builtIn[field] : 'kubernetes.io/in-tree';
}

/** Of the volumes that a class makes. */
export function driverOfProvisioner(provisioner: string): string {
  return csiByInTree.get(provisioner) ?? provisioner;
}

/** A volume that stands in the Pod itself, without a claim. */
export interface InlineVolume {
  readonly driver: string;
  /** Which one it is; undefined for one that is made for the Pod and counted by nobody. */
  readonly id?: string;
}

type Inline = MigratedSource & { readonly csi?: { readonly driver?: string } };

/** @returns undefined for a volume with a claim, and for one of no storage, such as a ConfigMap */
export function inlineVolume(volume: object): InlineVolume | undefined {
  const source: Inline = volume;
  if (source.csi) return { driver: source.csi.driver ?? '' };
  const field = migratedFields.find((one) => source[one]);
  if (!field) return undefined;
  const [id = ''] = Object.values(source[field] ?? {}) as string[];
  return { driver: migrated[field][1], id };
}
