/** What a code means to the person who meets it. */
export interface Explanation {
  /** What is wrong, as a heading. */
  readonly title: string;
  /** What the operator does about it by itself. */
  readonly happens: string;
  /** What a person can do. */
  readonly fix: string;
}
