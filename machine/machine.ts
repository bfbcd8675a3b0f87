import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';

/**
 * A machine: an instance in a cloud, its name in DNS, its certificate, the platform that answers on it and the
 * Kraftlet that fronts it.
 */

/** Who a machine is, for its whole life, derived from its claim. */
export interface MachineIdentity {
  /** The short name that serves Node, release, DNS label, certificate and instance. */
  readonly name: string;
  readonly claim: string;
  readonly claimUid: string;
  /** Undefined for a claim made by hand without a pool. */
  readonly nodePool: string | undefined;
  readonly nodeClass: string;
  /** UID of the cluster (of its kube-system namespace): whose machines these are. */
  readonly clusterUid: string;
}

/** A size in a place: one try at a machine. It is written down before the cloud is called. */
export interface Candidate {
  /** Counts up when an instance that was made for this claim died or its token is spent. */
  readonly attempt: number;
  readonly instanceType: string;
  readonly zone: string;
  readonly subnet: string;
  /** The size is bare metal, so nested virtualisation is not asked for. */
  readonly metal: boolean;
}

export interface Instance {
  readonly id: string;
  /** What no other instance ever has, where `id` is a name that may be given again. */
  readonly serial?: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated';
  readonly instanceType: string;
  readonly zone: string;
  readonly region: string;
  readonly imageId: string;
  readonly privateAddress: string | undefined;
  readonly publicAddress: string | undefined;
  readonly launchedAt: string | undefined;
  /** Why the cloud stopped it, in the cloud's words. */
  readonly stateReason: string | undefined;
  /** Whether it can run guests, as the cloud shows it now; absent where the cloud does not say. */
  readonly runsGuests?: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** An instance that is to end, and whose it has to be: where ids are names, another's may have this one by now. */
export interface InstanceToEnd {
  readonly id: string;
  /** Absent: wherever it is. */
  readonly zone?: string | undefined;
  readonly clusterUid: string;
  /** Absent: of whatever claim of the cluster. */
  readonly claimUid?: string | undefined;
}

/** What is baked into user data, so that it is fixed at launch. */
export interface Bootstrap {
  readonly fqdn: string;
  readonly port: number;
  readonly quotas: PlatformQuotas;
  readonly secrets: MachineSecrets | SecretsByCall;
  readonly config: Readonly<Record<string, string>>;
  readonly imagePulls: readonly string[];
}

/** A machine is told its secrets … */
export interface MachineSecrets {
  /** Bearer token of the Kraftlet user on this machine's platform. */
  readonly token: string;
  /** Absent where the platform makes a certificate of its own, which nobody checks. */
  readonly tls: { readonly certificate: string; readonly privateKey: string } | undefined;
  readonly activation: string | undefined;
}

/** … or where it gets them, once. */
export interface SecretsByCall {
  readonly callback: {
    /** Origin of the operator's bootstrap server. */
    readonly url: string;
    readonly token: string;
    /** Of the identity token that the cloud is asked for. */
    readonly audience: string;
    /** PEM; only this authority is believed there. */
    readonly ca: string;
    readonly cloud: string;
  };
}

/** Where the platform API of a machine answers and how to be sure that it is this machine. */
export interface PlatformEndpoint {
  /** Name in the certificate and in DNS. */
  readonly fqdn: string;
  readonly address: string;
  readonly port: number;
  readonly token: string;
  /** PEM; only these authorities are trusted. Absent where whoever answers is believed. */
  readonly ca: string | undefined;
}
