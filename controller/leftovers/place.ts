/** What machines leave, in the order in which it goes: docs/adr/0024-what-machines-leave.md says why. */
export const kinds = [
  'release',
  'name',
  'instance',
  'node',
  'certificate',
  'secret',
  'part',
] as const;
export type Kind = (typeof kinds)[number];

/** One thing that was made for a claim, whether or not the claim is still there. */
export interface Found {
  /** Unique in its place. */
  readonly id: string;
  /** UID of the claim that it was made for, as the thing itself says. */
  readonly claimUid: string;
  /** Of an instance and of a Node; a claim that names it has it, whatever its UID. */
  readonly providerID?: string;
  /** Name of the node class, where the thing says it: events are told there. */
  readonly nodeClass?: string | undefined;
  /** What people recognise it by: `m8i.large in eu-central-1a`. */
  readonly about: string;
  /** Not now: somebody has it, or it is on its way already. */
  readonly isBusy?: true;
}

/** Whether a thing is gone now, or only on its way: then it is looked at again. */
export type Outcome = 'gone' | 'going';

/** Where things of one kind are: the instances of a region, the names of a zone. */
export interface Place<F extends Found = Found> {
  readonly kind: Kind;
  /** `instances in eu-central-1` */
  readonly name: string;
  /** Nothing of it goes in a round in which not every place of that kind could be looked at. */
  readonly needs?: Kind;
  /**
   * Everything there that this cluster made for a machine.
   *
   * @throws MachineError, ApiError where anything could be missing: a part of a list is never an answer
   */
  list(signal: AbortSignal): Promise<readonly F[]>;
  /** @throws MachineError, ApiError when it stays */
  remove(found: F, signal: AbortSignal): Promise<Outcome>;
}
