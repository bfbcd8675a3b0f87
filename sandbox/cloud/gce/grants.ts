/** What the operator may do in the project: all, save what a test takes away. */
export class Grants {
  /** Permissions that it lacks, wherever it asks. */
  readonly withheld = new Set<string>();
  /** E-mail addresses of service accounts that are not there. */
  readonly absentAccounts = new Set<string>();

  /** An answer to testIamPermissions; without any permission it has no list at all. */
  answer(asked: readonly string[] = []): { permissions?: readonly string[] } {
    const permissions = asked.filter((one) => !this.withheld.has(one));
    return permissions.length > 0 ? { permissions } : {};
  }
}
