import type { Code } from '../errors/codes.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import type { Resource } from '../kubernetes/resource.ts';

export type Operation = 'CREATE' | 'UPDATE';

/**
 * One thing that admission judges. The API server (as CRD rule or policy), the webhook and offline checks evaluate the
 * same expression on the same place, and the samples hold all of them to one verdict.
 */
export interface Rule {
  /** Unique, kebab-case; several rules may share a code. */
  readonly name: string;
  readonly code: Code;
  readonly target: Resource;
  /** As a policy names them, such as `pods/resize`; absent: the target itself and none of its subresources. */
  readonly resources?: readonly string[];
  readonly operations: readonly Operation[];
  /** `deny` is only for what can never work; `warn` admits and tells. */
  readonly severity: 'deny' | 'warn';
  /**
   * What `self` is, from the object's root; `[]` after a list's name means each of its items, and `{a,b}` each of
   * these names. Absent: nothing to judge.
   */
  readonly path: string;
  /**
   * True when all is well. Only what subset.ts lists, which means the same in every engine. With `oldSelf`, what stood
   * at the path before, it is judged only where something stood there; such a rule is for UPDATE and has no list in its
   * path.
   */
  readonly cel: string;
  /** What is wrong, and what would come of it: one sentence. */
  readonly message: string;
  /** The way out: one sentence. */
  readonly fix: string;
  /** For the reference page: why the rule is there. */
  readonly docs: string;
  /** What the samples are an update of, for rules that are not for CREATE. */
  readonly before?: KubeObject;
  readonly accepts: readonly KubeObject[];
  readonly rejects: readonly KubeObject[];
}

/** Whether a rule compares with what was there before. */
export function comparesWithOld({ cel }: Pick<Rule, 'cel'>): boolean {
  return /\boldSelf\b/.test(cel);
}

/** The resources that a rule is for, as a policy names them. */
export function resourcesOf({
  target,
  resources,
}: Pick<Rule, 'target' | 'resources'>): readonly string[] {
  return resources ?? [target.plural];
}

/** A rule that an object breaks, at the place where it does. */
export interface Violation {
  /** Name of the rule. */
  readonly rule: string;
  readonly code: Code;
  readonly severity: Rule['severity'];
  /** With the index of a list's item: `spec.template.spec.requirements[1]`. */
  readonly path: string;
  readonly message: string;
  readonly fix: string;
}

/** A refusal in one breath: the place, the reason, the way out, the code. */
export function describe({
  path,
  message,
  fix,
  code,
}: Pick<Violation, 'path' | 'message' | 'fix' | 'code'>): string {
  return `${path}: ${message} ${fix} (${code})`;
}
