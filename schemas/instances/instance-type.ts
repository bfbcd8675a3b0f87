import type { ResourceList } from '../kubernetes/meta.ts';

/** A size of machine as the cloud sells it, before any node class says what to make of it. */
export interface MachineType {
  name: string;
  family: string;
  vcpus: number;
  memoryMiB: number;
  architecture: 'amd64' | 'arm64';
  metal: boolean;
  /** Can run KVM guests on a virtual machine; metal can always. */
  nested: boolean;
  /** Firmware it can start an image from; absent where that is not known. */
  bootModes?: readonly string[];
}

/** One place where a size is sold. */
export interface Offering {
  zone: string;
  zoneID: string;
  /** USD per hour, on demand; undefined = not known. */
  price: number | undefined;
  /** The price follows from a rule, not from a published table. */
  priceDerived: boolean;
  /** False while the cloud said it has no capacity there. */
  available: boolean;
}

/** A size as a node class makes it: what scheduling sees. */
export interface InstanceType {
  name: string;
  machine: MachineType;
  offerings: readonly Offering[];
  /** What its Node will advertise: cpu, memory, pods and, if the class says so, ephemeral-storage. Canonical quantities. */
  capacity: ResourceList;
  /** Single-valued labels of every Node of this size; zone is per offering. */
  labels: Readonly<Record<string, string>>;
}

/** What the platform's user is allowed on one machine: rendered into user data, and read back as Node capacity. */
export interface PlatformQuotas {
  vcpus: number;
  memoryMiB: number;
  volumeStorageMiB: number;
  instances: number;
}
