import type { Explanation } from './explanation.ts';

const anotherOne =
  'The claim ends with its machine, DNS record and Secrets, and another one is made for the Pods that still wait.';

/** KPU3xx: from a pending Pod to a Node, and until the machine is gone. */
export const machines = {
  KPU301: {
    title: 'A setting cannot be read',
    happens: 'The process does not start.',
    fix: 'Correct the environment variables that the message names.',
  },
  KPU310: {
    title: 'The cloud has no capacity',
    happens:
      'Size and zone, or the subnet, are not tried again for 3 minutes. The next candidate is tried; when none is left, the claim ends and the Pods are planned anew.',
    fix: 'Allow more instance types or zones in the NodePool.',
  },
  KPU311: {
    title: 'The cloud refuses the operation to these credentials',
    happens: 'No other candidate is tried; the call is repeated every few minutes.',
    fix: "Compare the controller's role with docs/tasks/aws-permissions.md or docs/tasks/gcp-permissions.md; look for organisation policies. AWS: CloudTrail shows the refused call by the request id in the message; aws sts decode-authorization-message tells which statement refused it. Google Cloud: the message names the missing permission, or the API that is not enabled in the project.",
  },
  KPU312: {
    title: 'The cloud refuses to make the machine',
    happens: 'It is tried again with growing pauses until the launch deadline.',
    fix: "Read the cloud's message in the Launched condition and correct the node class.",
  },
  KPU313: {
    title: 'The cloud asks to slow down',
    happens: 'Calls are repeated with growing pauses.',
    fix: 'Nothing, unless it lasts: then ask the cloud for a higher request rate.',
  },
  KPU314: {
    title: 'Nobody knows whether the cloud did it',
    happens:
      'Exactly the same call is repeated under the same token, so that nothing is made twice.',
    fix: 'Nothing, unless it lasts: then look at the path from the controller to the cloud.',
  },
  KPU315: {
    title: 'A launch attempt is spent',
    happens: 'The instance it made is gone already; the next attempt gets a token of its own.',
    fix: 'Nothing, unless it repeats: then look at why instances end at once.',
  },
  KPU316: {
    title: 'The account may not start more machines',
    happens: 'The size is not tried again for 3 minutes; the next candidate is.',
    fix: 'Ask the cloud for a higher quota of on-demand vCPUs for this family.',
  },
  KPU317: {
    title: 'The user data is too large',
    happens: 'The claim cannot launch: EC2 takes 16 KiB, Compute Engine 256 KiB.',
    fix: 'Shorten platform.config, platform.imagePulls or the activation Secret.',
  },
  KPU318: {
    title: 'The node class is not ready',
    happens: 'The claim ends before anything is launched, and the Pods are planned anew.',
    fix: 'Read the conditions of the UnikraftNodeClass.',
  },
  KPU319: {
    title: 'The NodeClaim asks for what is no quantity',
    happens: 'The claim is deleted before anything is launched.',
    fix: 'Correct the quantity in spec.resources.requests that the message names.',
  },
  KPU320: {
    title: 'The machine did not start in time',
    happens: anotherOne,
    fix: 'Read the Launched and InstanceRunning conditions; raise deadlines.launch for sizes that start slowly, bare metal above all.',
  },
  KPU321: {
    title: 'The platform did not become healthy in time',
    happens: anotherOne,
    fix: "Read which checks failed in PlatformHealthy, and the machine's console. A missing activation and a blocked port look the same from outside.",
  },
  KPU322: {
    title: 'No Node registered in time',
    happens: anotherOne,
    fix: 'Read KraftletInstalled and Registered, and the log of the Kraftlet Pod: <machine>-0 in the namespace of Kraftlet, where <machine> is the name of the Node-to-be, which is told in the events of the claim.',
  },
  KPU323: {
    title: 'The DNS name belongs to somebody else',
    happens: 'The record is left alone, and the claim waits until its deadline.',
    fix: 'Remove the record if it is stale, or set dns.nameTemplate or dns.zone so that names of clusters do not meet.',
  },
  KPU324: {
    title: 'The platform does not answer',
    happens: 'It is asked again every few seconds until the deadline.',
    fix: 'Check that security groups let the cluster reach platform.port, and that the name resolves in the cluster.',
  },
  KPU325: {
    title: 'The platform does not accept the token',
    happens: 'It is asked again at a slow pace until the deadline.',
    fix: 'Check that the image reads its user from the user data; docs/concepts/user-data.md tells the format.',
  },
  KPU326: {
    title: 'The platform or its Node offers something else than was planned',
    happens:
      'The difference is kept in the status of the node class and corrects every later plan for this revision and size.',
    fix: 'Set platform.overhead and platform.capacity to what the image grants, and give the Kraftlet user quotas: a user with root permission has none.',
  },
  KPU327: {
    title: 'The Kraftlet Pod cannot start',
    happens:
      'KraftletInstalled tells the reason; it is waited for until the registration deadline.',
    fix: 'Give it room on a Node that is not virtual, and check the image and its pull Secret.',
  },
  KPU328: {
    title: 'The Kraftlet release cannot be applied',
    happens: 'It is tried again with growing pauses until the registration deadline.',
    fix: "Read the API server's message in KraftletInstalled: a quota, a policy or a missing namespace.",
  },
  KPU329: {
    title: 'A Node does not belong to its machine',
    happens:
      'It is not registered: two Nodes claim one machine, or its name or provider id is another.',
    fix: 'Remove what made the other Node.',
  },
  KPU330: {
    title: 'The instance ended without being asked to',
    happens: `Pods on it are released at once. ${anotherOne}`,
    fix: "Read the cloud's reason in the event; look for somebody, or something, that stops instances. Where one ends at once, Client.InternalError and Client.InvalidKMSKey mean that EC2 may not use the key of its disks, and Client.VolumeLimitExceeded that the account's quota of EBS is used up.",
  },
  KPU331: {
    title: 'The instance cannot be ended',
    happens:
      'It is tried again at a slow pace, and the claim keeps its finalizer: a machine is never forgotten.',
    fix: 'AWS: take termination protection off the instance. Google Cloud: take deletion protection off it.',
  },
  KPU332: {
    title: 'The DNS record cannot be written',
    happens: 'It is tried again with growing pauses until the deadline.',
    fix: "Read the zone's answer in DNSReady.",
  },
  KPU333: {
    title: 'A step of the machine failed in a way that was not foreseen',
    happens: 'It is tried again with growing pauses; the deadline of the step holds all the same.',
    fix: 'Read the message: where the API server refuses, a policy, a quota or a missing permission is in the way. Anything else belongs in a bug report, with the line of the log.',
  },
  KPU334: {
    title: 'The revision that a machine was made from is gone',
    happens:
      'The claim keeps its finalizer: without the revision nobody knows where the machine is, and letting it go would leave it running.',
    fix: 'Restore the ControllerRevision, or end the instance by hand and remove the finalizer from the claim.',
  },
  KPU335: {
    title: 'The cloud is still making the machine',
    happens:
      'Condition Launched says so, and it is looked at again every few seconds. Google Cloud tells only at the end whether there was room.',
    fix: 'Nothing, unless it lasts: then look at the operations of the project.',
  },
  KPU336: {
    title: 'The cloud lists only part of its machines',
    happens:
      'A zone cannot be reached. What is absent from the list counts neither as gone nor as never made; it is asked for again with growing pauses.',
    fix: 'Nothing, unless it lasts: then look at how the cloud says its zones are.',
  },
  KPU337: {
    title: 'The instance cannot run guests',
    happens: `The cloud started it without nested virtualisation, though that was asked for. The size is not tried in that zone for 30 minutes. ${anotherOne}`,
    fix: 'Nothing, unless it repeats: then exclude the instance family in the NodePool, or allow bare metal.',
  },
  KPU338: {
    title: 'The cloud is about to take the instance away, or its status checks fail',
    happens: `Condition Interrupted on the claim says which. The machine is drained and ends as any other. ${anotherOne} Checks that fail on more than a fifth of the machines of a node class replace none of them.`,
    fix: 'Nothing, unless it repeats: then look at what the cloud says of the region.',
  },
  KPU339: {
    title: 'An instance had lost its tags or labels',
    happens:
      'It is tagged again, with what it lacked. By these tags it is known to be ours, and may be ended.',
    fix: 'Look for whoever takes tags off: a policy of tags in the organisation, or a script.',
  },
  KPU340: {
    title: 'The NodePool is at its limit',
    happens:
      'No machine is launched that would exceed it. Condition and event LimitReached name the resource.',
    fix: 'Raise spec.limits, or remove what uses it.',
  },
  KPU342: {
    title: 'No NodePool can serve the Pod',
    happens:
      'FailedScheduling on the Pod says for each pool what stopped it. It is looked at again on each change.',
    fix: "Change the Pod's requests, selectors or tolerations, or the pool's requirements, taints or limits.",
  },
  KPU343: {
    title: 'The NodePool contradicts itself',
    happens: 'ValidationSucceeded=False, and nothing is launched for it.',
    fix: 'Correct the field that the message names.',
  },
  KPU345: {
    title: 'The requirements of a NodePool leave no size of machine',
    happens:
      'Nothing is launched for the pool. Condition InstanceTypesFound and event NoCompatibleInstanceTypes name the requirements. It is looked at again on each change.',
    fix: 'Correct the requirement that the message names, or give the pool a node class whose region, subnets and image have such machines.',
  },
  KPU346: {
    title: 'A Pod asks for more than can be counted exactly',
    happens:
      'No machine is launched for it, whatever there is: amounts beyond 2^53 (thousandths of cpu, bytes, whole units) are never rounded to what fits.',
    fix: 'Correct the request of the Pod: it is most likely a slip of the suffix.',
  },
  KPU347: {
    title: 'Machines were made for Pods that do not get onto them',
    happens:
      'After three machines in vain no more is made for such Pods from this pool; one is tried after 10 minutes, then after twice as long each time, up to 4 hours. FailedScheduling on the Pod and condition and event ProvisioningBackoff on the pool name what stopped them at the last machine. All other Pods are served.',
    fix: 'Take away what the message names: who sets the taint, or what the Nodes lack; or let the Pods tolerate it. A change of the spec of the pool (its limits, its weight) or of its node class, or a Pod that gets its place, ends the wait at once.',
  },
  KPU348: {
    title: 'A price that was set cannot be used',
    happens:
      'What held before for the size holds on: the price that was set before it, or the recorded one. All other prices of the ConfigMap are taken. Event PricesRefused on the ConfigMap names the line.',
    fix: 'Correct the line that the message names; docs/reference/prices.md tells the format.',
  },
  KPU349: {
    title: 'Pods wait for the first machine of a size',
    happens:
      'What a size offers is predicted until a machine of it was seen. A Pod that needs more than nine tenths of it fits nowhere if the prediction is a tenth too high, so two machines go ahead, and the others are made as soon as one of these is initialized. Nothing is lost but minutes, once for each node class.',
    fix: 'Nothing, or look at the NodeClaims that are on their way if these take long.',
  },
  KPU350: {
    title: 'The thread that plans for Pods died',
    happens:
      'This look at the Pods that wait had no plan. Another thread is started after a pause that grows, is told everything, and they are looked at again; nothing is lost.',
    fix: 'Read the line of the log. Where the thread ran out of memory give the controller more; anything else belongs in a bug report.',
  },
  KPU351: {
    title: 'Planning fails with a Pod',
    happens:
      'It was found by halving which Pods passes fail with, or take longer than 60 s. It and the Pods of its namespace that ask the same of a node are left out of passes; they are tried again after 10 minutes, then after twice as long each time, up to 4 hours. FailedScheduling on each of them and a line of the log tell the error. All other Pods are served.',
    fix: "Change what the Pod asks for, if the error names it: a Pod with another spec is tried at once. Anything else belongs in a bug report, with the Pod's spec and the line of the log.",
  },
  KPU352: {
    title: 'Planning fails whichever Pods take part',
    happens:
      'Pods were set aside one after the other, and no pass succeeded between: it is not the Pods. They are released, and passes are tried again after pauses that grow to a minute. No machine is launched meanwhile; those that are there are kept.',
    fix: 'Read the error in the line of the log. Where the thread ran out of memory or of time give the controller more memory and CPU; look at what NodePools and node classes said last. Anything else belongs in a bug report.',
  },
  KPU353: {
    title: 'A volume of a Pod cannot be had yet',
    happens:
      'No machine is launched for the Pod, since kube-scheduler would bind it nowhere. FailedScheduling on the Pod names the claim and what is wrong with it: missing, lost, being deleted, without a class, or unbound with a class that binds at once. All other Pods are served, and this one is looked at again when the claim, its volume or its class changes.',
    fix: 'Do what the message says: make the claim or its class, or look at why its driver makes no volume (kubectl describe pvc).',
  },
  KPU354: {
    title: 'Machines of a node class do not mount a volume of the Pod',
    happens:
      'No machine of the NodePools that use the node class is launched for the Pod; Nodes of others are still looked at. Kraftlet mounts claims through CSI drivers that its chart is told of, and this one is not among them.',
    fix: 'Register the driver in spec.kraftlet.values of the UnikraftNodeClass, csi.plugins, if it works on such machines (docs/adr/0020-which-volumes-machines-carry.md); or let the Pod use a class of storage with a driver that is there, or other Nodes.',
  },
  KPU355: {
    title: 'The controller may not read volumes',
    happens:
      'Pods with volume claims get no machine, since nobody can tell where their volumes are. All other Pods are served. It is tried again every 15 seconds.',
    fix: 'Apply kustomize/rbac of this release: the controller gets, lists and watches persistentvolumeclaims, persistentvolumes and storageclasses.',
  },
  KPU365: {
    title: 'No more certificates may be asked for now',
    happens:
      'The authority said so, or certificatesPerWeek are used up. Nothing is asked of it until the time that the message names; the node class is not ready and launches nothing, and a claim that waits ends by its deadline.',
    fix: 'Wait, or use PrivateCA, which knows no limit. Raise certificate.api.acme.certificatesPerWeek only where the authority allows more.',
  },
  KPU371: {
    title: 'Names of machines are in no DNS',
    happens:
      'The node class has dns.provider None, and its condition DNSReady says so while it is True. Machines work: the operator connects by address, and the Pod of Kraftlet has the names in its hosts file. Nothing else can reach a machine, or its registry, by name.',
    fix: 'Nothing, where that is enough. Else name who holds the zone in dns.provider; running machines keep what they were made with.',
  },
  KPU372: {
    title: 'The cluster serves no DNSEndpoint',
    happens:
      'The node class has dns.provider ExternalDNS: DNSReady=False, and no machine is made from the new revision. It is looked at again every minute.',
    fix: 'Install external-dns with its CRD dnsendpoints.externaldns.k8s.io (v1alpha1) and its source crd, or choose another dns.provider.',
  },
  KPU373: {
    title: 'DNSEndpoints are refused',
    happens:
      "DNSReady=False with the API server's words, and no machine is made from the new revision. It is tried again every minute, by a rehearsal that makes nothing.",
    fix: "Give the controller the Role of kustomize/rbac in its namespace, look for a policy that refuses DNSEndpoints, or for a CRD that is not external-dns' v1alpha1.",
  },
  KPU374: {
    title: 'Names of a machine do not resolve',
    happens:
      'They were written more than a minute ago, and the servers of DNS_SERVERS do not answer with the address of the machine. What is written is looked at again every 10 seconds and set right; the machine waits until its deadline.',
    fix: "Look where DNSReady says the names lead now: another record may stand in the way, or servers may answer that see another zone. Servers that were asked before a name was there remember that for the TTL of the zone's SOA or its minimum, whichever is less, and the message says so where they do: lower it, name servers in DNS_SERVERS that do not remember, or raise deadlines.launch above it. With external-dns read its log: it has to run with the source crd, see the operator's namespace, let the zone through its filters, and own no other record of that name.",
  },
  KPU375: {
    title: 'Names of a machine outlive it',
    happens:
      'Three minutes after their DNSEndpoint was deleted they still lead to its address, and the machine is ended all the same.',
    fix: 'Let external-dns run with --policy=sync, else it removes nothing; remove the records, and the TXT beside them, by hand.',
  },
  KPU363: {
    title: 'The certificate of the machine is not issued yet',
    happens:
      'It is looked for every few seconds until the launch deadline; the instance is made after it.',
    fix: 'Where it takes longer than the deadline, as with DNS-01 it may, raise deadlines.launch.',
  },
  KPU364: {
    title: 'No certificate was issued for the machine',
    happens:
      'It is looked for at a slow pace until the launch deadline; then another machine is tried.',
    fix: 'Read what the message says of the issuer: its policy may not allow the name or the duration.',
  },
} as const satisfies Record<string, Explanation>;
