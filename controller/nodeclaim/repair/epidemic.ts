import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { Patient } from './examination.ts';

/** So much of a pool, or of all machines of a class, may be down for each to be replaced. Karpenter's share. */
const atMost = 0.2;

/**
 * More than a fifth, rounded up, of the machines of a NodePool that are down together: the fault is the network's, the
 * image's or the controller's own, and new machines would fare no better. The same is asked of the whole node class, since
 * pools of one machine each have no fifth.
 *
 * @param patients all machines that could be judged
 * @returns what speaks against replacing one of them
 */
export function tooMany(patients: readonly Patient[]): (hand: ClaimInHand) => string | undefined {
  const pools = crowdsBy(patients, ({ hand }) => hand.identity.nodePool ?? '');
  const classes = crowdsBy(patients, ({ hand }) => hand.identity.nodeClass);
  return ({ identity }) => {
    const inPool = pools.get(identity.nodePool ?? '');
    if (inPool !== undefined) return `${inPool} of NodePool ${identity.nodePool} are down together`;
    const inClass = classes.get(identity.nodeClass);
    return inClass && `${inClass} of UnikraftNodeClass ${identity.nodeClass} are down together`;
  };
}

/** `3 of 10 machines`, by name of the group, where that is too many. */
function crowdsBy(
  patients: readonly Patient[],
  nameOf: (patient: Patient) => string,
): ReadonlyMap<string, string> {
  const groups = [...Map.groupBy(patients, nameOf)];
  return new Map(
    groups.flatMap(([name, all]) => {
      const down = all.filter(({ diagnosis }) => diagnosis.kind === 'machine-down').length;
      const isMany = down > Math.ceil(all.length * atMost);
      return isMany ? [[name, `${down} of ${all.length} machines`] as const] : [];
    }),
  );
}
