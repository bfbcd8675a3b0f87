import type { Code } from '../errors/codes.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import type { Resource } from '../kubernetes/resource.ts';

export type Operation = 'CREATE' | 'UPDATE';

/**
 * One thing that admission judges. The API server (as CRD rule), the webhook and offline checks evaluate the same
 * expression on the same place, and the samples hold all of them to one verdict.
 */
export interface Rule {
  /** Unique, kebab-case; several rules may share a code. */
  readonly name: string;
  readonly code: Code;
  readonly target: Resource;
  readonly operations: readonly Operation[];
  /** `warn` admits and tells. */
  readonly severity: 'deny' | 'warn';
  /** What `self` is, from the object's root; `[]` after a list's name means each of its items. Absent: nothing to judge. */
  readonly path: string;
  /** True when all is well. Only what cel.ts lists, which means the same in every engine. */
  readonly cel: string;
  /** What is wrong, and what would come of it: one sentence. */
  readonly message: string;
  /** The way out: one sentence. */
  readonly fix: string;
  /** For the reference page: why the rule is there. */
  readonly docs: string;
  readonly accepts: readonly KubeObject[];
  readonly rejects: readonly KubeObject[];
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
