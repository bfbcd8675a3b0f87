/** What has gone wrong with clouds under others' operators, and what happens here. */
export interface Trouble {
  /** What happened elsewhere, with the issues in which it is told. */
  readonly elsewhere: string;
  readonly here: string;
}

/** By number, without gaps: numbers stand in titles of tests and are not given anew. */
export const troubles: readonly Trouble[] = [
  {
    elsewhere:
      'The operator died between a launch and its status: about a thousand machines leaked (kubernetes-sigs/karpenter#1448, aws/karpenter-provider-aws#2734).',
    here: 'The try is written down before the call; a restart finds the machine by tag, or repeats the same token.',
  },
  {
    elsewhere:
      'A refused status write, or a cache that was behind, led to a second machine (kubernetes-sigs/cluster-api-provider-aws#6131).',
    here: 'The claim’s intent and the token decide, not the status: one machine.',
  },
  {
    elsewhere:
      'A 503 while an operation was asked about was read as its failure, and inserted again (cloudpilot-ai/karpenter-provider-gcp#267).',
    here: 'A question that fails says nothing; the insert goes on and is not repeated.',
  },
  {
    elsewhere:
      'A machine was left in one zone after the launch had moved on to another (cloudpilot-ai/karpenter-provider-gcp#199).',
    here: 'What an earlier try left in another zone ends before anything is made.',
  },
  {
    elsewhere:
      'One client token was used for two sizes, or for a machine that had ended (boto/boto3#4406).',
    here: 'A token is of one attempt, one candidate and its parameters; one that is spent is followed by the next attempt.',
  },
  {
    elsewhere: 'A new machine that lists did not show yet was taken for gone.',
    here: 'For a minute after its launch its absence proves nothing.',
  },
  {
    elsewhere:
      'Calls over the rate, and retries of reads that left none for writes (aws/karpenter-provider-aws#9175, #7961).',
    here: 'Calls take turns by action, reads and writes apart; a refusal for the rate marks no capacity.',
  },
  {
    elsewhere:
      'A zone without capacity was tried again and again (aws/karpenter-provider-aws#1521).',
    here: 'The next zone is tried in the same pass, and the empty one not before its time.',
  },
  {
    elsewhere:
      'A lack of capacity was told as a failure of the launch: the claim was kept, and other pools never tried (kubernetes-sigs/karpenter#2275).',
    here: 'The claim ends with InsufficientCapacityError, and planning takes the next pool.',
  },
  {
    elsewhere:
      'A subnet without addresses blamed the size (aws/karpenter-provider-aws#9054, #3364).',
    here: 'The subnet is passed over, launches under way counted; sizes are not blamed.',
  },
  {
    elsewhere:
      'A quota of the account looked like a lack of machines, or stopped all sizes (Azure/karpenter-provider-azure#192).',
    here: 'The quota’s own families are passed over, and the reason says quota.',
  },
  {
    elsewhere: 'A stopped machine lingered and was paid for (aws/karpenter-provider-aws#6866).',
    here: 'Stopped or suspended is not gone: the claim ends and the instance with it.',
  },
  {
    elsewhere:
      'A deletion ended before the machine had, or never (aws/karpenter-provider-aws#7684, #7019).',
    here: 'The claim is kept until the instance is proven gone; a protection is told and waited for.',
  },
  {
    elsewhere:
      'A claim without provider id could not be deleted (cloudpilot-ai/karpenter-provider-gcp#334).',
    here: 'The machine is found by the claim’s UID, or by its name.',
  },
  {
    elsewhere:
      'Overlapping deletes ran into the rate, and one false "not found" orphaned a machine (cloudpilot-ai/karpenter-provider-gcp#242).',
    here: 'One delete each; an end is believed of its operation, or of two answers.',
  },
  {
    elsewhere:
      'Collection of orphans removed everything while the API server could not be read, or after half a list (gardener/machine-controller-manager#657).',
    here: 'Nobody is judged by a list that is not whole, and nothing new is touched.',
  },
  {
    elsewhere: 'Machines of another cluster were removed, or stayed after their cluster was gone.',
    here: 'Only what carries this cluster’s UID is looked at; `kpu cleanup` finds what a cluster left.',
  },
  {
    elsewhere:
      'An image of another architecture than the size (aws/karpenter-provider-aws#703, #3217).',
    here: 'Such sizes are no candidates; an image that no size starts is refused on the class.',
  },
  {
    elsewhere:
      'Tags that were missing, mangled or overridden hid machines from their operator (kubernetes-sigs/cluster-api-provider-aws#4629).',
    here: 'Ours win over a user’s, and are put back when somebody takes them off.',
  },
  {
    elsewhere:
      'Disks and interfaces stayed after their machine (zalando-incubator/kubernetes-on-aws#2241).',
    here: 'Each says that it ends with the machine, and what stays all the same is collected.',
  },
  {
    elsewhere:
      'Fields that do not go together were refused with every launch, in a message that was cut (cloudpilot-ai/karpenter-provider-gcp#155).',
    here: 'A launch says what the family of its size takes, and no more; messages begin with the code.',
  },
  {
    elsewhere:
      'A mark of no capacity was renewed for ever (cloudpilot-ai/karpenter-provider-gcp#245).',
    here: 'It ends in its time, whatever fails elsewhere.',
  },
  {
    elsewhere: 'Launch templates piled up to their limit (aws/karpenter-provider-aws#8686).',
    here: 'There are none: a launch is one call.',
  },
  {
    elsewhere: 'Paid reservations of capacity went unused (aws/karpenter-provider-aws#9518).',
    here: 'The preference of the class reaches the cloud; by default they are used.',
  },
  {
    elsewhere:
      'A wrong or missing price chose the wrong machine (aws/karpenter-provider-aws#3183).',
    here: 'Sizes without a price come last.',
  },
  {
    elsewhere:
      'Bare metal boots for longer than a registration may take (kubernetes-sigs/karpenter#357).',
    here: 'Each phase has a deadline of its own, and the claim says in which it is.',
  },
  {
    elsewhere: 'A claim that was deleted while its machine was made leaked it.',
    here: 'The launch is found and ended first.',
  },
  {
    elsewhere:
      'One machine that could not be ended failed the batch it was in (jenkinsci/ec2-fleet-plugin#327).',
    here: 'Each is ended by a call of its own.',
  },
  {
    elsewhere: 'A clock that was late made signatures expire.',
    here: 'It is corrected by the answer, and the call succeeds.',
  },
  {
    elsewhere:
      'A record without its ownership, or one of somebody else, was overwritten or blocked a name (kubernetes-sigs/external-dns#1502, #6683).',
    here: 'Both are written in one change; a name of somebody else is told and left alone.',
  },
  {
    elsewhere: 'The limits of a certificate authority were reached.',
    here: 'A private CA has none. With a public one orders are counted over restarts, and it is left alone for as long as it says.',
  },
  {
    elsewhere:
      'An outage of the list of sizes was told as limits that were exceeded (aws/karpenter-provider-aws#5937).',
    here: 'The last good list stands. Where there was none, AWS gets the recorded one; in Google Cloud, which has none, no size is taken and the outage is told as such.',
  },
  {
    elsewhere: 'Nested virtualisation was lost without a word (aws/containers-roadmap#2784).',
    here: 'It is looked for after the launch; a machine without it ends with that reason.',
  },
];
