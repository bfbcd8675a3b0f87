/**
 * The parts of Compute Engine's resources that are written or read here. Whole numbers of 64 bits are text in its JSON.
 *
 * Source: Compute Engine API reference v1; the sandbox judges each request by the API's own descriptions.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/** What an insert says. */
export interface InstanceBody {
  readonly name: string;
  /** `zones/<zone>/machineTypes/<type>` */
  readonly machineType: string;
  readonly minCpuPlatform?: string;
  readonly advancedMachineFeatures?: { readonly enableNestedVirtualization: boolean };
  readonly disks: readonly DiskBody[];
  readonly networkInterfaces: readonly {
    readonly subnetwork: string;
    readonly accessConfigs?: readonly { readonly name: string; readonly type: string }[];
  }[];
  readonly scheduling: {
    readonly provisioningModel: 'STANDARD';
    readonly automaticRestart: boolean;
    readonly onHostMaintenance: 'MIGRATE' | 'TERMINATE';
  };
  readonly serviceAccounts?: readonly {
    readonly email: string;
    readonly scopes: readonly string[];
  }[];
  readonly tags?: { readonly items: readonly string[] };
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: { readonly items: readonly KeyValue[] };
}

export interface DiskBody {
  readonly boot: boolean;
  readonly autoDelete: boolean;
  readonly initializeParams: {
    readonly sourceImage?: string;
    readonly diskSizeGb?: string;
    readonly diskType: string;
    readonly provisionedIops?: string;
    readonly provisionedThroughput?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly diskEncryptionKey?: { readonly kmsKeyName: string };
}

export interface GceInstance {
  /** A number of 64 bits; no other instance ever has it. */
  readonly id?: string;
  readonly name?: string;
  readonly status?: string;
  readonly statusMessage?: string;
  /** URL. */
  readonly machineType?: string;
  /** URL. */
  readonly zone?: string;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly labelFingerprint?: string;
  readonly scheduling?: { readonly onHostMaintenance?: string };
  readonly resourceStatus?: { readonly upcomingMaintenance?: UpcomingMaintenance };
  readonly metadata?: { readonly items?: readonly KeyValue[] };
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

/** What Google has announced for the host of an instance. */
export interface UpcomingMaintenance {
  /** SCHEDULED, UNSCHEDULED, MULTIPLE */
  readonly type?: string;
  /** PENDING, ONGOING */
  readonly maintenanceStatus?: string;
  readonly maintenanceReasons?: readonly string[];
  /** RFC 3339. */
  readonly windowStartTime?: string;
}

/** Answer to a question for permissions; absent where there are none. */
export interface Granted {
  readonly permissions?: readonly string[];
}

export interface Operation {
  readonly name?: string;
  /** `id` of the instance that it acts on. */
  readonly targetId?: string;
  readonly status?: string;
  readonly error?: { readonly errors?: readonly OperationError[] };
}

export interface OperationError {
  readonly code?: string;
  readonly message?: string;
  readonly errorDetails?: readonly {
    readonly errorInfo?: { readonly metadatas?: Readonly<Record<string, string>> };
    readonly quotaInfo?: { readonly metricName?: string; readonly limitName?: string };
  }[];
}

export interface Page<Item> {
  readonly items?: readonly Item[];
  readonly nextPageToken?: string;
}

/** `items` by scope: `zones/europe-west1-b`. */
export interface AggregatedInstances {
  readonly items?: Readonly<Record<string, InstancesOfZone>>;
  readonly unreachables?: readonly string[];
  readonly nextPageToken?: string;
}

export interface InstancesOfZone {
  readonly instances?: readonly GceInstance[];
  readonly warning?: { readonly code?: string };
}

/** As {@link AggregatedInstances}. */
export interface AggregatedDisks {
  readonly items?: Readonly<Record<string, DisksOfZone>>;
  readonly unreachables?: readonly string[];
  readonly nextPageToken?: string;
}

export interface DisksOfZone {
  readonly disks?: readonly GceDisk[];
  readonly warning?: { readonly code?: string };
}

export interface GceDisk {
  readonly name?: string;
  /** URL. */
  readonly zone?: string;
  readonly status?: string;
  /** URLs of the instances that have it. */
  readonly users?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

export interface GceMachineType {
  readonly name?: string;
  readonly guestCpus?: number;
  readonly memoryMb?: number;
  readonly architecture?: string;
  readonly isSharedCpu?: boolean;
  readonly deprecated?: Deprecation;
}

export interface Deprecation {
  readonly state?: string;
}

export interface GceZone {
  readonly name?: string;
  /** URL. */
  readonly region?: string;
  readonly status?: string;
}

export interface GceSubnetwork {
  readonly name?: string;
  /** URL. */
  readonly network?: string;
}

export interface GceImage {
  readonly name?: string;
  /** URL. */
  readonly selfLink?: string;
  readonly family?: string;
  readonly status?: string;
  readonly architecture?: string;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deprecated?: Deprecation;
}

/** The last part of a URL or path: `.../zones/europe-west1-b` → `europe-west1-b`. */
export function lastOf(url: string | undefined): string {
  return url?.split('/').at(-1) ?? '';
}
