/** A call that is answered without a decision; below 500 the fault is the caller's. No part of a body stands in one. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** Of the review, when it is known. */
  readonly uid: string | undefined;

  constructor(
    status: number,
    message: string,
    { uid, cause }: { uid?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.uid = uid;
  }
}
