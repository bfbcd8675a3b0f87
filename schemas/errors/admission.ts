import type { Explanation } from './explanation.ts';

const refused = "The write is refused by the CRD's own rules, with or without the webhook.";

const byPolicy =
  'The write is refused where the webhook or the policies run. What came in otherwise launches nothing.';

const warned = 'The write is let through with a warning, where the webhook or the policies run.';

/** KPU1xx: said when an object is written. */
export const admission = {
  KPU101: {
    title: 'On-demand machines are ruled out',
    happens:
      'The write is refused where the webhook or the policies run. A pool that came in otherwise gets ValidationSucceeded=False and launches nothing.',
    fix: 'Write the karpenter.sh/capacity-type requirement as operator In with the value "on-demand", or remove it.',
  },
  KPU102: {
    title: 'Other capacity types are asked for beside on-demand',
    happens: 'The write is let through with a warning; the other types are never used.',
    fix: 'Leave only "on-demand" in the values.',
  },
  KPU103: {
    title: 'The reference to the node class is half ours',
    happens: byPolicy,
    fix: 'Write group, kind and name of the UnikraftNodeClass in full.',
  },
  KPU104: {
    title: 'No machine can meet a requirement',
    happens: byPolicy,
    fix: 'Ask for what machines have: linux, amd64 or arm64, sizes that are sold.',
  },
  KPU105: {
    title: 'Requirements contradict each other',
    happens: byPolicy,
    fix: 'Write one requirement for each key, or let their values meet.',
  },
  KPU106: {
    title: 'A label is not free to choose',
    happens: byPolicy,
    fix: 'Use a label of your own domain.',
  },
  KPU107: {
    title: 'A taint cannot be on the Node',
    happens: byPolicy,
    fix: 'Use a key of your own domain, and each key and effect once.',
  },
  KPU108: {
    title: 'Nothing on the Node takes startup taints off',
    happens: warned,
    fix: 'Remove the startup taints, unless a controller elsewhere takes them off.',
  },
  KPU110: {
    title: 'The node class names no cloud, or two',
    happens: refused,
    fix: 'Set either spec.aws or spec.gcp.',
  },
  KPU111: {
    title: 'The image is given twice or not at all',
    happens: refused,
    fix: 'Set either spec.image.id or spec.image.selectorTerms, and in a term either id or ssmParameter.',
  },
  KPU112: {
    title: 'A selector term selects nothing in particular',
    happens: refused,
    fix: 'Give the term id, name or tags; of an image also ssmParameter in AWS, or family in Google Cloud.',
  },
  KPU113: {
    title: 'The name template gives no name of its own to a machine',
    happens: refused,
    fix: 'Use {{node}} in spec.dns.nameTemplate and end it with .{{zone}}.',
  },
  KPU114: {
    title: 'The Kraftlet chart has no version',
    happens: refused,
    fix: 'Set spec.kraftlet.version.',
  },
  KPU115: {
    title: 'A tag is reserved',
    happens: refused,
    fix: 'Choose another name for the tag.',
  },
  KPU116: {
    title: 'There is no storage to advertise',
    happens: refused,
    fix: 'Set spec.platform.capacity.volumeStorage, or spec.platform.advertiseStorage to false.',
  },
  KPU117: {
    title: 'The volumes cannot be made',
    happens: refused,
    fix: 'Correct spec.aws.blockDevices or spec.gcp.disks as the message says.',
  },
  KPU118: {
    title: 'Nodes would offer no memory',
    happens: refused,
    fix: 'Set spec.platform.capacity.memory to at least 1Mi, or to a percentage.',
  },
  KPU119: {
    title: 'A time of nothing is given',
    happens: refused,
    fix: 'Set minutes or hours, or remove the field for its default.',
  },
  KPU120: {
    title: 'An image is selected without an owner',
    happens: warned,
    fix: 'Set owner to the account that publishes the image, or to self.',
  },
  KPU121: {
    title: 'Nodes promise more memory than machines have',
    happens: warned,
    fix: 'Keep spec.platform.capacity.memory at 100% or below.',
  },
  KPU122: {
    title: 'Nodes promise more instances than there are networks',
    happens: warned,
    fix: 'Lower spec.platform.capacity.instances, or have the image make more networks.',
  },
  KPU123: {
    title: 'Values of the Kraftlet chart are overruled',
    happens: warned,
    fix: 'Remove the values that the message names.',
  },
  KPU124: {
    title: 'A change replaces machines',
    happens: warned,
    fix: 'Delete NodeClaims to have the change sooner: this release replaces no running machine for it. It replaces one only for its certificate, once two thirds of its life are over or the Secret that it came from holds another one (KPU369).',
  },
  KPU125: {
    title: 'Machines expire the moment they are made',
    happens: byPolicy,
    fix: 'Set expireAfter to days, or to Never.',
  },
  KPU126: {
    title: 'Machines live for minutes',
    happens: warned,
    fix: 'Set expireAfter to hours or days.',
  },
  KPU127: {
    title: 'Pods have no time to end',
    happens: warned,
    fix: 'Set terminationGracePeriod to what Pods may take, or remove it.',
  },
  KPU128: {
    title: 'A machine goes the moment it empties',
    happens: warned,
    fix: 'Set spec.disruption.consolidateAfter to a few minutes.',
  },
  KPU129: {
    title: 'Empty machines stay for ever',
    happens: warned,
    fix: 'Set spec.disruption.consolidateAfter to a duration.',
  },
  KPU130: {
    title: 'A budget never lets a machine go',
    happens: warned,
    fix: 'Give the budget a schedule or reasons, or allow a node.',
  },
  KPU131: {
    title: 'A budget never lets a change through',
    happens: warned,
    fix: 'Give the budget a schedule, or take Drifted out of its reasons.',
  },
  KPU132: {
    title: 'The schedule of a budget cannot be read',
    happens: byPolicy,
    fix: 'Write five fields of cron in UTC, or a word such as @daily.',
  },
  KPU133: {
    title: 'The pool has no limits',
    happens: warned,
    fix: 'Set spec.limits.',
  },
  KPU134: {
    title: 'A limit leaves no room for a machine',
    happens: warned,
    fix: 'Raise the limit, unless the pool is to stand still.',
  },
  KPU135: {
    title: 'The template bears marks of a GitOps tool',
    happens: warned,
    fix: 'Keep the marks of Argo CD and Flux out of spec.template.',
  },
  KPU136: {
    title: 'The template keeps machines for ever',
    happens: warned,
    fix: 'Take karpenter.sh/do-not-disrupt out of the template.',
  },
  KPU137: {
    title: 'The image is named as another cloud names images',
    happens: refused,
    fix: 'Give ids of AWS (ami-0abc) with spec.aws, and paths or families of Google Cloud with spec.gcp.',
  },
  KPU138: {
    title: 'Flexibility is asked for where machines have none',
    happens: warned,
    fix: 'Remove minValues from the requirement.',
  },
  KPU139: {
    title: 'Parts of the node class do not go together',
    happens: refused,
    fix: 'Correct the zones, the tags, the role or the fields of dns as the message says.',
  },
  KPU140: {
    title: 'The selector of the Pod can never be met',
    happens:
      'The write is refused where the webhook or the policies run. A Pod that came in otherwise stays Pending.',
    fix: 'Correct kubernetes.io/os or kubernetes.io/arch.',
  },
  KPU141: {
    title: 'The Pod waits for a machine that is not on demand',
    happens: warned,
    fix: 'Ask for karpenter.sh/capacity-type on-demand, or for none.',
  },
  KPU142: {
    title: 'A container is larger than any machine',
    happens:
      'The write is refused where the webhook or the policies run. A Pod that came in otherwise stays Pending.',
    fix: 'Correct the unit, or ask for less.',
  },
  KPU143: {
    title: 'A container is larger than a microVM',
    happens: warned,
    fix: 'Spread the work over several Pods.',
  },
  KPU144: {
    title: 'Probes never run',
    happens: warned,
    fix: 'Remove them, and let the program end when it cannot go on.',
  },
  KPU145: {
    title: 'A subPath is ignored',
    happens: warned,
    fix: 'Mount the volume at a folder of its own.',
  },
  KPU146: {
    title: 'There is no host to take a path from',
    happens: warned,
    fix: 'Use another kind of volume.',
  },
  KPU147: {
    title: 'A volume in memory is left out',
    happens: warned,
    fix: 'Remove medium from the emptyDir.',
  },
  KPU148: {
    title: 'The Pod has no owner that makes it anew',
    happens: warned,
    fix: 'Let a Deployment, StatefulSet or Job make it.',
  },
  KPU149: {
    title: 'The container may use far more than it asks for',
    happens: warned,
    fix: 'Raise the request towards the limit.',
  },
  KPU150: {
    title: 'The Pod has several ports',
    happens: warned,
    fix: 'Have exactly one Service that selects it, before it is made.',
  },
  KPU151: {
    title: 'Resource fields cannot be read',
    happens: warned,
    fix: 'Write the value, or read what the instance has.',
  },
  KPU152: {
    title: 'A setting of scale to zero is not known',
    happens: warned,
    fix: 'Correct the annotation as the message says.',
  },
  KPU153: {
    title: 'The Pod wants to share a host',
    happens: warned,
    fix: 'Remove hostNetwork, hostPID and hostIPC.',
  },
  KPU154: {
    title: 'DNS settings of the Pod are not applied',
    happens: warned,
    fix: 'Use full names.',
  },
  KPU155: {
    title: 'Nobody makes the volume',
    happens: warned,
    fix: 'Use an emptyDir, or a class of storage outside of the machine.',
  },
  KPU156: {
    title: 'Ephemeral containers never start',
    happens: warned,
    fix: 'Read the logs, or start a copy of the Pod on another node.',
  },
  KPU157: {
    title: 'The Pod is not resized in place',
    happens: warned,
    fix: "Change the Pod's template.",
  },
  KPU158: {
    title: 'The container says no size',
    happens: warned,
    fix: 'Set requests of cpu and memory.',
  },
  KPU159: {
    title: 'The label that opts in says neither "true" nor "false"',
    happens: `${warned} The Pod is treated as if it had no such label.`,
    fix: 'Write "true" to opt in or "false" to opt out, or remove the label.',
  },
  KPU367: {
    title: 'Nobody checks the certificates of machines',
    happens: warned,
    fix: "Use certificate.api.mode PrivateCA. None is for trials in a network of one's own: whoever is on the way reads the token of a machine and what its Pods are started with.",
  },
  KPU368: {
    title: 'The fields of the certificate do not go with its mode',
    happens: refused,
    fix: 'Set what the mode needs, and nothing that belongs to another one.',
  },
} as const satisfies Record<string, Explanation>;
