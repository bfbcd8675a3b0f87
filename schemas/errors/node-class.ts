import type { Explanation } from './explanation.ts';

const staysOnLast =
  'The new revision of the node class is not used: machines are still made from the last one that resolved. It is looked at again every minute and on each change.';

/** KPU2xx: conditions of a UnikraftNodeClass, and what it needs from the cluster. */
export const nodeClass = {
  KPU200: {
    title: "Karpenter's CRDs are not installed",
    happens: 'The controller stays alive and not ready, and starts working once they are there.',
    fix: 'Install the karpenter.sh/v1 CRDs of Karpenter 1.10 or newer; docs/tasks/first-machine.md tells how.',
  },
  KPU201: {
    title: 'The node class does not exist',
    happens: 'NodePools that name it are NodeClassReady=False and launch nothing.',
    fix: 'Create the UnikraftNodeClass, or correct spec.template.spec.nodeClassRef.name.',
  },
  KPU202: {
    title: 'The node class is being deleted',
    happens:
      'It is Ready=False and makes no new machines. It is kept until the last NodeClaim that uses it is gone; its condition Deleting names them.',
    fix: 'Delete the NodePools that use it, or let them name another node class, and delete the NodeClaims that are left. It goes with the last of them; a deletion cannot be taken back.',
  },
  KPU203: {
    title: 'No size of machine fits the node class',
    happens: 'Pools that use it find no instance type.',
    fix: 'Lower platform.overhead, or choose a region and image architecture that sell sizes with nested virtualisation or bare metal.',
  },
  KPU210: {
    title: 'The cloud does not accept the credentials',
    happens: `CredentialsReady=False. ${staysOnLast}`,
    fix: "Give the controller's ServiceAccount a role with docs/tasks/aws-permissions.md or docs/tasks/gcp-permissions.md, or correct aws.assumeRoleARN.",
  },
  KPU211: {
    title: 'The activation Secret is missing or empty',
    happens: `CredentialsReady=False. ${staysOnLast}`,
    fix: "Create the Secret that platform.activationSecretRef names, with that key, in the operator's namespace.",
  },
  KPU212: {
    title: 'The credentials may not launch machines',
    happens: `A rehearsal of a launch, which makes nothing, was refused: CredentialsReady=False. ${staysOnLast}`,
    fix: "Compare the controller's role with docs/tasks/aws-permissions.md: ec2:RunInstances with the tags of this cluster, ec2:CreateTags at a launch, and iam:PassRole on the role of aws.instanceProfile; look for organisation policies. CloudTrail shows the call by the request id in the message.",
  },
  KPU213: {
    title: 'The SSM parameter gives no image',
    happens: `ImageReady=False. ${staysOnLast}`,
    fix: "Correct ssmParameter in image.selectorTerms; the parameter has to be in the class's region, readable, and of the form ami-0abc.",
  },
  KPU214: {
    title: 'The role of the node class cannot be assumed',
    happens: `CredentialsReady=False. ${staysOnLast}`,
    fix: "Correct aws.assumeRoleARN and aws.assumeRoleExternalID; let the controller's own identity do sts:AssumeRole on the role, and let the role's trust policy name that identity and the external id (docs/tasks/aws-permissions.md).",
  },
  KPU215: {
    title: 'The cloud does not answer',
    happens:
      'Several calls in a row could not connect, or got no answer, or whoever gives the operator its credentials for it (a metadata server, a token service) gave none. Condition CloudReachable of the node class is False, with an event; what was known of the class still holds, so Ready stays. Its machines are left alone, launches wait and claims end at their deadlines. One call a minute finds out when the cloud is there again. Other regions and clouds are not affected.',
    fix: 'Look at the way from the cluster to the endpoint in the message: DNS, proxy, NetworkPolicy, private endpoints; then at how the cloud says its region is.',
  },
  KPU216: {
    title: 'Permissions seem to be missing in Google Cloud',
    happens:
      'Google was asked which permissions the operator has, and says that a launch would be refused. It may be wrong, since a role under a condition is judged by what the question is about. So CredentialsReady stays True with reason PermissionsMissing, with an event; the class is used, launches are tried, and one that is refused is told as Unauthorized (KPU311) on its claim.',
    fix: "Compare the controller's roles with docs/tasks/gcp-role.yaml, in the project of the machines, on a shared subnetwork and in the project of the image; actAs is needed on the account of gcp.serviceAccount. A role under a condition that does not hold for the project itself is told as missing though it may hold for machines; if they launch, nothing is to be done.",
  },
  KPU220: {
    title: 'No image matches',
    happens: `ImageReady=False. ${staysOnLast}`,
    fix: 'Correct image.id or image.selectorTerms; look at owner and region, and whether the image is shared with this account.',
  },
  KPU221: {
    title: 'The newest matching images have different architectures',
    happens: `ImageReady=False. ${staysOnLast}`,
    fix: 'Narrow image.selectorTerms to one architecture, and make a second node class for the other.',
  },
  KPU222: {
    title: 'The image cannot be used',
    happens: `ImageReady=False. ${staysOnLast}`,
    fix: 'Choose an image that is available. AWS: for amd64 or arm64, with an EBS root device. Google Cloud: one whose architecture is set, to X86_64 or ARM64.',
  },
  KPU230: {
    title: 'No subnet matches',
    happens: `PlacementReady=False. ${staysOnLast}`,
    fix: 'AWS: correct aws.subnetSelectorTerms, or tag the subnets that machines may use. Google Cloud: correct gcp.subnetwork, with the whole path where another project shares it, or create it.',
  },
  KPU231: {
    title: 'No security group matches',
    happens: `PlacementReady=False. ${staysOnLast}`,
    fix: 'AWS: correct aws.securityGroupSelectorTerms, or tag the security groups.',
  },
  KPU232: {
    title: 'The placement cannot work',
    happens: `PlacementReady=False. ${staysOnLast}`,
    fix: 'Correct what the message names. AWS: subnets and security groups have to be of one VPC, and aws.instanceProfile has to exist. Google Cloud: zones and subnetwork have to be of gcp.region, the subnetwork of gcp.network, and gcp.serviceAccount has to exist.',
  },
  KPU240: {
    title: 'The DNS zone does not exist',
    happens: `DNSReady=False. ${staysOnLast}`,
    fix: 'Create the zone, or correct dns.zone, dns.zoneID or dns.server.',
  },
  KPU241: {
    title: 'The DNS zone may not be changed',
    happens: `DNSReady=False. ${staysOnLast}`,
    fix: 'Allow what the message names. Route 53: ChangeResourceRecordSets, ListResourceRecordSets and GetHostedZone on the zone. Cloud DNS: the permissions that begin with dns in docs/tasks/gcp-role.yaml. RFC2136: the key of dns.tsig, and the Secret that it is in.',
  },
  KPU242: {
    title: 'Several DNS zones have this name',
    happens: `DNSReady=False. ${staysOnLast}`,
    fix: 'Say which one with dns.zoneID.',
  },
  KPU250: {
    title: 'The CA Secret cannot sign',
    happens: `CertificateReady=False. ${staysOnLast}`,
    fix: "Give certificate.api.caSecretRef a Secret of the operator's namespace whose tls.crt is a CA that is valid long enough and whose tls.key belongs to it, or leave it out to have one made.",
  },
  KPU361: {
    title: 'The certificate Secret cannot serve the machines',
    happens: `CertificateReady=False, and no machine is made with it; those that run keep what they have. ${staysOnLast}`,
    fix: "Give certificate.api.secretRef a Secret of the operator's namespace with tls.crt (the leaf first, then each signer), tls.key that belongs to it and, unless a public authority signed it, ca.crt. It has to cover the names of all machines, so a wildcard in the first label, for which dns.nameTemplate must put {{node}} into the first label; and to be valid for 24 hours more.",
  },
  KPU362: {
    title: 'No certificates can be had of cert-manager',
    happens: `CertificateReady=False, and no machine is made with it. ${staysOnLast}`,
    fix: "Install cert-manager, and correct certificate.api.issuerRef: a ClusterIssuer, or an Issuer of the operator's namespace, that is ready. Of an issuer of another group only that cert-manager is there is checked.",
  },
  KPU366: {
    title: 'The authority cannot be asked for certificates',
    happens: `CertificateReady=False, and no machine is made with it. ${staysOnLast}`,
    fix: 'Correct what the message names: the directory, the Secret of certificate.api.acme.caSecretRef, the e-mail address, externalAccountBinding and its Secret, or a zone that the operator does not write itself. Where the authority has closed the account, delete the Secret that keeps it; another one is opened then. A refused account is asked for again every ten minutes, and at once when a Secret changes.',
  },
  KPU260: {
    title: 'The Kraftlet chart cannot be had',
    happens: `KraftletReady=False. ${staysOnLast}`,
    fix: 'Correct spec.kraftlet.chart and spec.kraftlet.version; check that the controller reaches the registry and may read from it.',
  },
  KPU261: {
    title: 'The Kraftlet chart holds a kind that is not allowed',
    happens: `KraftletReady=False, nothing of the chart is applied. ${staysOnLast}`,
    fix: 'Switch the part off in kraftlet.values. Allowed are ServiceAccount, Secret, ConfigMap, Service, StatefulSet and PodDisruptionBudget in the namespace of spec.kraftlet.namespace.',
  },
  KPU262: {
    title: 'The Kraftlet chart does not render',
    happens: `KraftletReady=False. ${staysOnLast}`,
    fix: "Correct kraftlet.values; the condition carries Helm's own message.",
  },
  KPU263: {
    title: 'Kraftlet may not be put into this namespace',
    happens: `KraftletReady=False, nothing of the chart is applied. ${staysOnLast}`,
    fix: "Correct kraftlet.namespace, or add the namespace to the controller's KRAFTLET_NAMESPACES and give it the Role and RoleBinding of kustomize/rbac.",
  },
  KPU264: {
    title: "A variable in kraftlet.values is the operator's to set",
    happens: `KraftletReady=False, nothing of the chart is applied: a Node of another name, or one that is born open, would not be the machine's. ${staysOnLast}`,
    fix: 'Take the variables that the message names out of kraftlet.values.kraftlet.env.',
  },
  KPU270: {
    title: 'The node class contradicts itself',
    happens: `ValidationSucceeded=False. ${staysOnLast}`,
    fix: 'Correct the field that the message names.',
  },
} as const satisfies Record<string, Explanation>;
