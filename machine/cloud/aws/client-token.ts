import { createHash } from 'node:crypto';

import type { Candidate, MachineIdentity } from '../../machine.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The token that makes a launch happen once, however often it is asked for: 52 characters, the same for the same
 * machine, attempt, candidate and parameters, across restarts.
 *
 * The candidate is in it because EC2 keeps tokens per zone and refuses one that is used for another size; the
 * parameters are in it because a changed parameter would be refused as a mismatch. No time and nothing random may
 * enter `parameters`.
 *
 * Source: EC2 developer guide, ensuring idempotency (at most 64 ASCII characters, kept 24 hours beyond the end).
 */
export function clientToken(
  identity: Pick<MachineIdentity, 'clusterUid' | 'claimUid'>,
  candidate: Candidate,
  parameters: unknown,
): string {
  const { attempt, instanceType, zone, subnet } = candidate;
  const digest = createHash('sha256')
    .update(
      JSON.stringify([identity.clusterUid, identity.claimUid, attempt, instanceType, zone, subnet]),
    )
    .update(canonical(parameters))
    .digest();
  return base32(digest).slice(0, 52);
}

/** JSON with sorted keys, so that the order in which an object was built does not count. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
