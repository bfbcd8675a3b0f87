import type { Clock } from '#schemas/time/clock.ts';

import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import { googleRefusal } from './google-error.ts';
import type { Grants } from './grants.ts';
import { tokenAnswer } from './metadata-server.ts';

/** A question for permissions, and what it is asked of: a project's id or an account's address. */
export interface IamCall {
  readonly of: string;
  readonly permissions: readonly string[];
}

const routes = [
  { action: 'projects.testIamPermissions', path: /^\/v1\/projects\/([^/:]+):testIamPermissions$/ },
  {
    action: 'serviceAccounts.testIamPermissions',
    path: /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):testIamPermissions$/,
  },
] as const;

/** Resource Manager and IAM on one loopback port, as far as somebody asks what they may do. */
export class GoogleIam extends WireService<IamCall> {
  constructor(options: { clock: Clock; grants: Grants }) {
    super(new IamProtocol(options.grants), options.clock);
  }
}

class IamProtocol implements Protocol<IamCall> {
  readonly headers = { 'content-type': 'application/json' };
  readonly #grants: Grants;

  constructor(grants: Grants) {
    this.#grants = grants;
  }

  admit(authorization: string | undefined): void {
    if (authorization === `Bearer ${tokenAnswer.token}`) return;
    throw new CloudError('authError', 'Request had invalid authentication credentials.', 401);
  }

  read({ method, url, body }: Exchange): { action: string; parameters: IamCall } {
    const path = decodeURIComponent(url.pathname);
    const route = method === 'POST' ? routes.find((one) => one.path.test(path)) : undefined;
    if (!route) throw new CloudError('notFound', `No such method: ${method} ${path}`, 404);
    const { permissions = [] } = JSON.parse(body) as Partial<IamCall>;
    const [, of = ''] = route.path.exec(path) ?? [];
    return { action: route.action, parameters: { of, permissions } };
  }

  act(action: string, { of, permissions }: IamCall): string {
    const isAbsent = action.startsWith('serviceAccounts.') && this.#grants.absentAccounts.has(of);
    if (isAbsent) throw new CloudError('notFound', `Unknown service account: ${of}`, 404);
    return JSON.stringify(this.#grants.answer(permissions));
  }

  refuse(error: CloudError): string {
    return googleRefusal(error);
  }
}
