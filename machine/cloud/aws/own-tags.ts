import { tags } from '#schemas/names.ts';

import type { MachineIdentity } from '../../machine.ts';

/** By these an instance is known to be of its claim, and is found again, kept and ended. */
export function ownTags(identity: MachineIdentity): Record<string, string> {
  return {
    [tags.name]: identity.name,
    [tags.cluster]: identity.clusterUid,
    [tags.claimUid]: identity.claimUid,
    [tags.claim]: identity.claim,
    ...(identity.nodePool === undefined ? {} : { [tags.nodePool]: identity.nodePool }),
    [tags.nodeClass]: identity.nodeClass,
  };
}
