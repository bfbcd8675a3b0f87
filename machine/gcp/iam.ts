import { type ApiMethod, GoogleRest, type Token } from './rest.ts';

/**
 * Questions for permissions, which nobody needs a permission for.
 *
 * Source: Resource Manager API reference v1, projects.testIamPermissions; IAM API reference v1,
 * projects.serviceAccounts.testIamPermissions.
 */
export const iamMethods = {
  ofProject: {
    id: 'cloudresourcemanager.projects.testIamPermissions',
    http: 'POST',
    path: 'projects/{project}:testIamPermissions',
    permissions: [],
  },
  ofAccount: {
    id: 'iam.serviceAccounts.testIamPermissions',
    http: 'POST',
    path: 'projects/-/serviceAccounts/{account}:testIamPermissions',
    permissions: [],
  },
} as const satisfies Record<string, ApiMethod>;

interface Answer {
  readonly permissions?: readonly string[];
}

/** What this program may do with a project and with a service account. All throw GoogleError. */
export class IamApi {
  readonly #resources: GoogleRest;
  readonly #iam: GoogleRest;

  constructor(token: Token, roots: { resources?: string; iam?: string } = {}) {
    const { resources = resourcesRoot(), iam = iamRoot() } = roots;
    this.#resources = new GoogleRest(resources, token);
    this.#iam = new GoogleRest(iam, token);
  }

  /** @returns those of the permissions that the caller has */
  async ofProject(
    project: string,
    permissions: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const parts = { path: { project }, body: { permissions } };
    const answer = await this.#resources.call<Answer>(iamMethods.ofProject, parts, signal);
    return answer.permissions ?? [];
  }

  /** @param account  e-mail address of a service account; @returns those of the permissions that the caller has */
  async ofAccount(
    account: string,
    permissions: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const parts = { path: { account }, body: { permissions } };
    const answer = await this.#iam.call<Answer>(iamMethods.ofAccount, parts, signal);
    return answer.permissions ?? [];
  }
}

/** The variables that Google's own command line reads for other endpoints; they end before the version. */
function resourcesRoot(): string {
  const given = process.env['CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER'];
  return new URL('v1/', given ?? 'https://cloudresourcemanager.googleapis.com/').href;
}

function iamRoot(): string {
  const given = process.env['CLOUDSDK_API_ENDPOINT_OVERRIDES_IAM'];
  return new URL('v1/', given ?? 'https://iam.googleapis.com/').href;
}
