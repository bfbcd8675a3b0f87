/**
 * On which machines room is kept for Pods that will follow those that have to leave their node. They have other names,
 * and nobody knows them yet, so nobody can be nominated; but a machine with such room is not empty, and not in vain.
 *
 * Told anew by each pass, of which there is one every ten seconds while Pods have to leave.
 */
export class KeptRoom {
  /** Claim → Pods that leave (namespace/name). */
  #room = new Map<string, string[]>();

  podsOf(claimName: string): readonly string[] {
    return this.#room.get(claimName) ?? [];
  }

  /** All that a pass has found: what was kept before and is not among it is kept no more. */
  replace(found: Iterable<readonly [pod: string, claimName: string]>): void {
    this.#room = new Map();
    for (const [pod, claimName] of found) this.add(claimName, [pod]);
  }

  add(claimName: string, pods: readonly string[]): void {
    this.#room.set(claimName, [...this.podsOf(claimName), ...pods]);
  }
}
