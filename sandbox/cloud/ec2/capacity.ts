import { fault, type Fault } from '../wire/faults.ts';
import type { Account } from './account.ts';
import { zoneOf } from './launch.ts';
import type { Parameters } from './parameters.ts';

/**
 * No hosts for a size in a zone; what is left out stands for all.
 *
 * @example const back = ec2.faults.next('RunInstances', outOfCapacity(ec2.account, { zone: 'eu-central-1a' }))
 */
export function outOfCapacity(
  account: Account,
  { type, zone, times = Infinity }: { type?: string; zone?: string; times?: number },
): Fault<Parameters> {
  return fault({
    code: 'InsufficientInstanceCapacity',
    // a server's error by EC2's reckoning, which the SDK would repeat if it were not told otherwise
    status: 500,
    message: `We currently do not have sufficient ${type ?? 'instance'} capacity in the Availability Zone you requested.`,
    times,
    when: (parameters) =>
      (type === undefined || parameters.text('InstanceType') === type) &&
      (zone === undefined || zoneOf(parameters, account) === zone),
  });
}
