import { createHash } from 'node:crypto';

import type { Candidate, MachineIdentity } from '../../machine.ts';
import type { InstanceBody } from './resources.ts';

/**
 * The id that makes an insert happen once, however often it is asked for: a UUID that is the same for the same
 * machine, attempt, candidate and body, across restarts. The body is built in one order, so its text is its identity.
 *
 * How long ids are remembered is not said; what they no longer guard, the name does, which is taken by then.
 *
 * Source: Compute Engine API reference, requestId of each method (a UUID, not zero); RFC 9562 §5.8, version 8.
 */
export function requestId(
  { clusterUid, claimUid }: Pick<MachineIdentity, 'clusterUid' | 'claimUid'>,
  { attempt, instanceType, zone, subnet }: Candidate,
  body: InstanceBody,
): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clusterUid, claimUid, attempt, instanceType, zone, subnet]))
    .update(JSON.stringify(body))
    .digest('hex');
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return parts.join('-');
}
