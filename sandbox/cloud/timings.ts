import { hours, milliseconds } from '#schemas/time/clock.ts';

import type { MachineScript } from '../machine/health.ts';
import type { Ec2Timings } from './ec2/instance.ts';
import type { GceTimings } from './gce/instance.ts';
import type { Route53Timings } from './route53/zones.ts';

/** Everything that takes time in this cloud. */
export type CloudTimings = Ec2Timings &
  GceTimings &
  Route53Timings &
  Omit<MachineScript, 'health' | 'diesAfter' | 'quotas'>;

/** What takes minutes in the world takes tenths of a second here: an instance is healthy about 1.5 s after launch. */
export const quick: CloudTimings = {
  provisioning: milliseconds(150),
  running: milliseconds(300),
  terminating: milliseconds(300),
  // long enough for a controller that trusts its first Describe to be caught
  invisible: milliseconds(50),
  listed: hours(1),
  propagation: milliseconds(50),
  boot: milliseconds(200),
  unknown: milliseconds(400),
  degraded: milliseconds(600),
};
