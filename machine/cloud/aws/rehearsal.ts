import { type EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';

import type { AwsSpec, ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { codeOf, toMachineError } from '../../aws/errors.ts';
import { NodeClassError } from '../../errors.ts';
import { faults } from '../../faults.ts';
import type { SizeOnSale } from '../provider.ts';
import { runInstancesInput } from './launch.ts';

/** What is rehearsed: a launch as a claim would make it, save for who asks. */
export interface Rehearsal {
  readonly nodeClass: ResolvedNodeClass;
  readonly aws: AwsSpec;
  readonly clusterUid: string;
  readonly sizes: readonly SizeOnSale[];
}

/**
 * Asks EC2 whether a launch would be allowed, by a dry run of the very call: the role's rights, what it may pass to a
 * machine, organisation policies, and whether EC2 takes what the class names. Nothing is made.
 *
 * EC2 answers DryRunOperation where the launch would pass. A lack of capacity, or an answer that does not come, says
 * nothing about the class.
 *
 * @throws NodeClassError with the part of the class that EC2 refuses
 */
export async function rehearse(ec2: EC2Client, rehearsal: Rehearsal): Promise<void> {
  const { nodeClass, aws, sizes } = rehearsal;
  const size = sizes.find(({ type }) => type.nested) ?? sizes[0];
  const subnet = nodeClass.subnets.find(({ zone }) => zone === size?.offerings[0]?.zone);
  if (!size || !subnet) return;
  const identity = {
    name: 'rehearsal',
    claim: 'rehearsal',
    claimUid: 'rehearsal',
    nodePool: 'rehearsal',
    nodeClass: nodeClass.nodeClass,
    clusterUid: rehearsal.clusterUid,
  };
  const { name: instanceType, metal } = size.type;
  const candidate = { attempt: 1, instanceType, zone: subnet.zone, subnet: subnet.id, metal };
  const input = runInstancesInput({ identity, nodeClass, candidate, userData: '' }, aws);
  try {
    await ec2.send(new RunInstancesCommand({ ...input, DryRun: true }));
  } catch (error) {
    if (codeOf(error) === 'DryRunOperation') return;
    const known = toMachineError(
      error,
      `Rehearsing the launch of ${instanceType} in ${subnet.zone}`,
    );
    if (known.next === 'node-class') throw known;
    if (known.next !== 'slow') return;
    throw new NodeClassError(faults.launchForbidden, known.message, { cause: error });
  }
}
