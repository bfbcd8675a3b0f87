// Made by `npm run generate` from schemas/nodeclass/unikraftnodeclass.schema.yaml; do not edit.
import type { Condition } from '../kubernetes/meta.ts';

/**
 * What new machines are made of.
 */
export interface UnikraftNodeClassSpec {
  aws?: AwsSpec;
  gcp?: GcpSpec;
  image: ImageSpec;
  platform?: PlatformSpec;
  bootstrap?: BootstrapSpec;
  dns: DnsSpec;
  certificate: CertificateSpec;
  kraftlet: KraftletSpec;
  deadlines?: DeadlinesSpec;
  /**
   * Tags for every instance and volume, beside the operator's own; labels in Google Cloud. Names that the operator uses itself are refused.
   */
  tags?: Record<string, string>;
}

/**
 * Where machines run in AWS.
 */
export interface AwsSpec {
  /**
   * Region of the instances, such as eu-central-1.
   */
  region: string;
  /**
   * Subnets that instances may start in; they decide the zones. A subnet is taken when any term fits it.
   */
  subnetSelectorTerms: SelectorTerm[];
  /**
   * Security groups of the instances. Taken are all that any term fits. They have to let the cluster reach platform.port.
   */
  securityGroupSelectorTerms: SelectorTerm[];
  /**
   * Name of the IAM instance profile of the machines; without it they have no role.
   */
  instanceProfile?: string;
  /**
   * Role that the controller assumes for this node class, in this or another account.
   */
  assumeRoleARN?: string;
  /**
   * External id that the trust policy of assumeRoleARN asks for, as roles of other accounts do.
   */
  assumeRoleExternalID?: string;
  /**
   * Whether instances may use capacity reservations: open uses a matching one when there is room, none never does, capacity-reservations-only runs nowhere else. Default: "open".
   */
  capacityReservationPreference?: 'open' | 'none' | 'capacity-reservations-only';
  /**
   * Volumes of the instance. Without any, it has those that the image says.
   */
  blockDevices?: BlockDevice[];
}

/**
 * Where machines run in Google Cloud.
 */
export interface GcpSpec {
  /**
   * Id of the project of the instances.
   */
  project: string;
  /**
   * Region of the instances, such as europe-west1.
   */
  region: string;
  /**
   * Zones of the region that instances may start in; without any, all of them.
   */
  zones?: string[];
  /**
   * Name of the network that the subnetwork has to be of; without it that is not looked at.
   */
  network?: string;
  /**
   * Subnetwork of the instances, by its name in the project and region, or, where another project shares it, as projects/<project>/regions/<region>/subnetworks/<name>.
   */
  subnetwork: string;
  /**
   * Service account of the machines, by its e-mail address; without it they have no identity.
   */
  serviceAccount?: string;
  /**
   * Network tags of the instances, by which firewall rules find them. These have to let the cluster reach platform.port.
   */
  networkTags?: string[];
  /**
   * Disks of the instance, the first of which boots. Without any, there is one as large as the image.
   */
  disks?: GcpDisk[];
  /**
   * Families of sizes that are taken to run guests, such as n2, in place of the recorded ones: Google Cloud does not say it. Bare metal counts in any case.
   */
  nestedVirtualizationFamilies?: string[];
}

/**
 * One disk, deleted with its instance and encrypted.
 */
export interface GcpDisk {
  /**
   * Size, such as 200Gi, rounded up to whole GiB.
   */
  size: string;
  /**
   * Kind of disk. Without it, pd-balanced, or hyperdisk-balanced for sizes that take no other. Sizes that do not take a kind that is said are not used.
   */
  type?:
    | 'pd-balanced'
    | 'pd-ssd'
    | 'pd-standard'
    | 'hyperdisk-balanced'
    | 'hyperdisk-extreme'
    | 'hyperdisk-throughput';
  /**
   * Provisioned operations per second, for hyperdisk-balanced and hyperdisk-extreme.
   */
  iops?: number;
  /**
   * Provisioned MiB per second, for hyperdisk-balanced and hyperdisk-throughput.
   */
  throughput?: number;
  /**
   * Key of Cloud KMS to encrypt with, by its path; without it Google's own.
   */
  kmsKeyName?: string;
}

/**
 * What a thing must be to be selected. The parts of one term all hold.
 */
export interface SelectorTerm {
  /**
   * Tags it must have; the value * means any.
   */
  tags?: Record<string, string>;
  /**
   * Its id.
   */
  id?: string;
  /**
   * Its name; * stands for any characters.
   */
  name?: string;
}

/**
 * What an image must be to be selected. The parts of one term all hold.
 */
export interface ImageSelectorTerm {
  /**
   * Tags it must have, labels in Google Cloud; the value * means any.
   */
  tags?: Record<string, string>;
  /**
   * Its id, such as ami-0abc, or its path in Google Cloud.
   */
  id?: string;
  /**
   * Its name; * stands for any characters.
   */
  name?: string;
  /**
   * Its family, of which Google Cloud keeps the newest; not for AWS.
   */
  family?: string;
  /**
   * Parameter of AWS Systems Manager whose value is the image's id, by name or ARN, with :version or :label where one is meant. It is read in the region of the class; not for Google Cloud.
   */
  ssmParameter?: string;
  /**
   * Who owns it: an account of AWS, by number, or self or amazon; a project of Google Cloud, by id, or self. Say it whenever you select by name.
   */
  owner?: string;
}

/**
 * One EBS volume, deleted with its instance.
 */
export interface BlockDevice {
  /**
   * Device, such as /dev/xvdb; without it the root device of the image.
   */
  deviceName?: string;
  /**
   * Size, such as 200Gi, rounded up to whole GiB.
   */
  volumeSize: string;
  /**
   * Kind of EBS volume. Default: "gp3".
   */
  volumeType?: 'gp3' | 'gp2' | 'io1' | 'io2' | 'st1' | 'sc1' | 'standard';
  /**
   * Provisioned operations per second, for gp3, io1 and io2.
   */
  iops?: number;
  /**
   * Provisioned MiB per second, for gp3.
   */
  throughput?: number;
  /**
   * Whether the volume is encrypted. Default: true.
   */
  encrypted?: boolean;
  /**
   * KMS key to encrypt with; without it the account's default key.
   */
  kmsKeyID?: string;
}

/**
 * The machine image, by id or by selection. A selection takes the newest image that fits, once for each revision of the node class, and machines of that revision keep it. The architecture is read from the image.
 */
export interface ImageSpec {
  /**
   * Id of the image, such as ami-0abc, or its path in Google Cloud.
   */
  id?: string;
  /**
   * Images to choose from; an image is a candidate when any term fits it.
   */
  selectorTerms?: ImageSelectorTerm[];
}

/**
 * What the Unikraft platform on a machine takes, offers and is told at first start.
 */
export interface PlatformSpec {
  overhead?: PlatformOverhead;
  capacity?: PlatformCapacity;
  activationSecretRef?: SecretKeyRef;
  /**
   * Settings of the platform by name, handed over in the user data.
   */
  config?: Record<string, string>;
  /**
   * Images that the machine pulls before the first Pod asks for them.
   */
  imagePulls?: string[];
  /**
   * Whether Nodes offer capacity.volumeStorage to the scheduler as ephemeral-storage. Default: false.
   */
  advertiseStorage?: boolean;
  /**
   * Port of the platform's API on the machine. Default: 443.
   */
  port?: number;
}

/**
 * How a machine gets its secrets at first start.
 */
export interface BootstrapSpec {
  /**
   * UserData: they stand in the user data of the instance, which whoever may read its attributes reads too. Callback: there stands a token that counts once; with it and the cloud's word on which instance calls, the machine asks the operator for the rest, and keeps its private key to itself. Default: "UserData".
   */
  mode?: 'UserData' | 'Callback';
  callback?: CallbackSpec;
}

/**
 * Where machines call. The operator has to serve there, see docs/tasks/callback.md.
 */
export interface CallbackSpec {
  /**
   * Address of the operator's bootstrap server as machines reach it, such as https://bootstrap.example.com:8443; its host is one of BOOTSTRAP_HOSTNAMES.
   */
  url: string;
}

/**
 * What the platform itself needs of a machine; the rest is the base of its capacity.
 */
export interface PlatformOverhead {
  /**
   * Whole vCPUs. Default: 2.
   */
  vcpus?: number;
  /**
   * Memory, rounded up to whole MiB. Default: "4Gi".
   */
  memory?: string;
}

/**
 * What a Node offers, as quotas of the platform. A percentage multiplies the machine less overhead and may exceed 100%; an absolute value only ever lowers it.
 */
export interface PlatformCapacity {
  /**
   * vCPUs, absolute (64) or relative (400%), rounded down. Without it all that overhead leaves.
   */
  vcpus?: number | string;
  /**
   * Memory, absolute (256Gi) or relative (100%), rounded down to whole MiB. Without it all that overhead leaves.
   */
  memory?: string;
  /**
   * Volumes that may exist on the machine together. The operator does not know its disks, so it is nothing unless it is said; Pods with volumes or emptyDir need it. Default: "0".
   */
  volumeStorage?: string;
  /**
   * Number of instances, which is the Node's number of Pods. Default: 1000.
   */
  instances?: number;
}

/**
 * Secret in the operator's namespace with what activates the platform's licence. The machine is told it as bootstrap.mode says.
 */
export interface SecretKeyRef {
  /**
   * Name of the Secret.
   */
  name: string;
  /**
   * Key in its data. Default: "token".
   */
  key?: string;
}

/**
 * How a machine gets its name. Records are written by the operator and removed with the machine.
 */
export interface DnsSpec {
  /**
   * Who holds the zone. ExternalDNS: external-dns writes the names, asked by a DNSEndpoint per machine. None: names are written nowhere; the operator and Kraftlet alone know them, with their address.
   */
  provider: 'Route53' | 'CloudDNS' | 'RFC2136' | 'ExternalDNS' | 'None';
  /**
   * Zone of the records, such as machines.example.com. Without records it is what names end with: a domain that is yours, or machines.internal.
   */
  zone: string;
  /**
   * Id of the zone, needed only where several zones have the name: that of the hosted zone in Route 53, name or number of the managed zone in Cloud DNS.
   */
  zoneID?: string;
  /**
   * Project of the managed zone in Cloud DNS; without it that of gcp.
   */
  project?: string;
  /**
   * Primary server of the zone, by name or address, for RFC2136; it takes signed dynamic updates over TCP.
   */
  server?: string;
  /**
   * Port of the server, 53 when absent.
   */
  port?: number;
  tsig?: TsigSpec;
  /**
   * Name of the platform's API, made from {{node}} and {{zone}}; the certificate bears it. Default: "api.{{node}}.{{zone}}".
   */
  nameTemplate?: string;
  /**
   * Which address of the instance the records hold. Default: "Internal".
   */
  addressType?: 'Internal' | 'External';
  /**
   * Zone of the names of applications; with it each machine gets *.<node>.<appZone>.
   */
  appZone?: string;
  /**
   * Time to live of the records, in seconds. Default: 60.
   */
  ttl?: number;
}

/**
 * The key that signs dynamic updates (TSIG), as the server knows it.
 */
export interface TsigSpec {
  /**
   * Name of the key.
   */
  name: string;
  /**
   * Algorithm of the key. Default: "hmac-sha256".
   */
  algorithm?: 'hmac-sha256' | 'hmac-sha512';
  secretRef: TsigSecretRef;
}

/**
 * Secret in the operator's namespace with the key's secret as secret, in base64 as tsig-keygen prints it.
 */
export interface TsigSecretRef {
  /**
   * Name of the Secret.
   */
  name: string;
}

/**
 * How the machine proves who it is.
 */
export interface CertificateSpec {
  api: ApiCertificate;
}

/**
 * Certificate of the platform's API.
 */
export interface ApiCertificate {
  /**
   * PrivateCA: the operator signs a certificate for each machine with a CA of its own or of caSecretRef, and Kraftlet trusts that CA alone. SecretRef: all machines show the certificate of secretRef. CertManager: cert-manager is asked for a certificate for each machine. ACME: an authority is, by a challenge in the zone of dns. None: machines show what they like and nobody checks it, so whoever is on the way reads their tokens; for trials only.
   */
  mode: 'PrivateCA' | 'SecretRef' | 'CertManager' | 'ACME' | 'None';
  caSecretRef?: SecretRef;
  secretRef?: CertificateSecretRef;
  issuerRef?: IssuerRef;
  acme?: AcmeSpec;
  /**
   * How long a certificate of PrivateCA or CertManager is valid. It is fixed at launch, so it has to outlive the machine. When absent it is as long as the machine may live (expireAfter) and a day; for ever means as long as the authority, or what the issuer gives.
   */
  duration?: string;
}

/**
 * Secret in the operator's namespace with the CA as tls.crt and tls.key; without it the operator makes one.
 */
export interface SecretRef {
  /**
   * Name of the Secret.
   */
  name: string;
}

/**
 * An authority that speaks ACME (RFC 8555). Naming it agrees to its terms of service. The account is a Secret of the operator's namespace, made once for each directory.
 */
export interface AcmeSpec {
  /**
   * Its directory, such as https://acme-v02.api.letsencrypt.org/directory.
   */
  directoryURL: string;
  /**
   * Whom the authority may write to.
   */
  email?: string;
  caSecretRef?: AcmeCaSecretRef;
  externalAccountBinding?: ExternalAccountBinding;
  /**
   * How many certificates are asked for in seven days for a zone; then no machine is made with one. Let's Encrypt allows 50 for a registered domain, which others may use too. Default: 50.
   */
  certificatesPerWeek?: number;
}

/**
 * Secret in the operator's namespace with authorities as ca.crt, which are trusted in place of the public ones: for the directory, and for what is issued.
 */
export interface AcmeCaSecretRef {
  /**
   * Name of the Secret.
   */
  name: string;
}

/**
 * Whose customer opens the account, for authorities that ask for it (RFC 8555 §7.3.4). Both are given out by the authority; another keyID is another account.
 */
export interface ExternalAccountBinding {
  /**
   * Name of the key, as the authority gave it out.
   */
  keyID: string;
  keySecretRef: ExternalAccountKeySecretRef;
}

/**
 * Secret in the operator's namespace with the HMAC key as secret, in base64url as authorities give it out.
 */
export interface ExternalAccountKeySecretRef {
  /**
   * Name of the Secret.
   */
  name: string;
}

/**
 * Who signs for cert-manager: a ClusterIssuer, an Issuer in the operator's namespace, or what another group calls so.
 */
export interface IssuerRef {
  /**
   * Name of the issuer.
   */
  name: string;
  /**
   * Its kind. Default: "ClusterIssuer".
   */
  kind?: string;
  /**
   * Its API group. Default: "cert-manager.io".
   */
  group?: string;
}

/**
 * Secret in the operator's namespace with certificate and key as tls.crt and tls.key, and ca.crt where its authority is not a public one. It must cover the name of every machine, by a wildcard.
 */
export interface CertificateSecretRef {
  /**
   * Name of the Secret.
   */
  name: string;
}

/**
 * The Kraftlet that fronts a machine in the cluster, one Helm release for each.
 */
export interface KraftletSpec {
  /**
   * Helm chart, as oci://registry/repository, or a path in the controller's image.
   */
  chart: string;
  /**
   * Version of the chart. Needed for oci://, so that a new chart comes by a change of this class only.
   */
  version?: string;
  /**
   * Namespace of the releases; one of those the controller is given. Default: "kraftlet".
   */
  namespace?: string;
  /**
   * Values of the chart. What the operator has to decide itself (node, token, endpoint, taint) wins over them.
   */
  values?: Record<string, unknown>;
}

/**
 * How long a machine may take; past a deadline it is removed and another one is tried. A change replaces nothing.
 */
export interface DeadlinesSpec {
  /**
   * From the claim to an instance that runs. Default: "5m".
   */
  launch?: string;
  /**
   * From the running instance to a healthy platform. Default: "20m".
   */
  healthy?: string;
  /**
   * From the healthy platform to a registered Node. Default: "10m".
   */
  registration?: string;
}

/**
 * What the operator found.
 */
export interface UnikraftNodeClassStatus {
  /**
   * Generation of the spec that this status speaks of.
   */
  observedGeneration?: number;
  /**
   * Ready means that machines can be made. CredentialsReady, ImageReady, PlacementReady, DNSReady, CertificateReady, KraftletReady and ValidationSucceeded speak of the newest spec, UpdateRevisionReady of all of it; Stalled says that only another spec helps, CloudReachable whether the cloud answers, and Deleting what a deletion waits for.
   */
  conditions?: Condition[];
  image?: ImageStatus;
  /**
   * Subnets that the spec selects now; a subnetwork of Google Cloud once for each zone.
   */
  subnets?: SubnetStatus[];
  /**
   * Security groups that the spec selects now.
   */
  securityGroups?: SecurityGroupStatus[];
  /**
   * Revision that new machines are made from, the newest one that resolved.
   */
  currentRevision?: string;
  /**
   * Revision of the newest spec, or the last one that resolved while the newest does not.
   */
  updateRevision?: string;
  /**
   * Number of machines made from this class.
   */
  machines?: number;
  /**
   * How what a platform offered differed from what was planned.
   */
  capacityCorrections?: CapacityCorrection[];
}

/**
 * The image of the revision in use.
 */
export interface ImageStatus {
  /**
   * Id of the image.
   */
  id: string;
  /**
   * Name of the image.
   */
  name?: string;
  /**
   * amd64 or arm64.
   */
  architecture: string;
}

/**
 * A subnet in use.
 */
export interface SubnetStatus {
  /**
   * Id of the subnet.
   */
  id: string;
  /**
   * Its zone.
   */
  zone: string;
  /**
   * Its zone, named alike in all accounts.
   */
  zoneID?: string;
}

/**
 * A security group in use.
 */
export interface SecurityGroupStatus {
  /**
   * Id of the security group.
   */
  id: string;
  /**
   * Its name.
   */
  name?: string;
}

/**
 * What machines of one size and revision really offer.
 */
export interface CapacityCorrection {
  /**
   * Revision of the node class.
   */
  revision: string;
  /**
   * Size of the machine.
   */
  instanceType: string;
  /**
   * vCPUs.
   */
  vcpus: number;
  /**
   * Memory in MiB.
   */
  memoryMiB: number;
  /**
   * Instances.
   */
  instances: number;
}
