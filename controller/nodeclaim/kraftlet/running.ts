import { by, type Caches } from '../../caches.ts';

/** Whether a ready Kraftlet stands before the machine of a claim: only it can have Pods begin and end there. */
export function kraftletRuns(
  { statefulSets }: Pick<Caches, 'statefulSets'>,
  claimUid: string,
): boolean {
  return statefulSets
    .by(by.claimUid, claimUid)
    .some(({ status }) => (status?.readyReplicas ?? 0) > 0);
}
