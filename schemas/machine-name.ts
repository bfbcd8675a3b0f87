import type { NodeClaim } from './karpenter/types.ts';
import { labels } from './names.ts';

/** Leaves room for what is put before and behind a name: a StatefulSet of 54 characters cannot make its Pod. */
const STEM_LENGTH = 30;
const UID_LENGTH = 8;

/**
 * The one short name of a machine, which serves Node, release, DNS label, certificate and instance:
 * `<pool cut to 30>-<8 hex of the claim's UID>`. A claim without a pool gives its own name instead.
 *
 * It is a DNS label of at most 39 characters that starts with a letter, whatever the pool is called.
 *
 * @throws Error when the claim has no name or UID, so does not come from the API
 */
export function machineName({ metadata = {} }: NodeClaim): string {
  const { name = '', uid = '' } = metadata;
  const stem = asLabel(metadata.labels?.[labels.nodePool] ?? name);
  const unique = uniqueOf(uid);
  if (stem === '' || unique === '')
    throw new Error('a NodeClaim without name and UID has no machine');
  return `${stem}-${unique}`;
}

/** What a machine's name ends with, by the UID of its claim. */
export function uniqueOf(claimUid: string): string {
  return claimUid.replaceAll('-', '').slice(0, UID_LENGTH);
}

function asLabel(name: string): string {
  const flat = name.replaceAll('.', '-');
  const stem = /^\d/.test(flat) ? `n${flat}` : flat;
  return stem.slice(0, STEM_LENGTH).replace(/-+$/, '');
}
