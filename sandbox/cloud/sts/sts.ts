import type { Clock } from '#schemas/time/clock.ts';
import { hours } from '#schemas/time/clock.ts';

import { Parameters } from '../ec2/parameters.ts';
import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import { type XmlTree, xmlDocument } from '../wire/xml.ts';

const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** A role, and what its trust policy asks for. */
export interface TrustingRole {
  readonly arn: string;
  /** Absent: its trust policy names the caller and asks for no more. */
  readonly externalID?: string;
}

/**
 * STS on a loopback port: roles that may be assumed, by those who bring the external id that a role asks for. Whose a
 * call is afterwards is the access key's name, `role:<ARN>`.
 */
export class Sts extends WireService<Parameters> {
  readonly roles: TrustingRole[];

  constructor({ clock }: { clock: Clock }) {
    const roles: TrustingRole[] = [];
    super(new StsProtocol(roles), clock);
    this.roles = roles;
  }
}

class StsProtocol implements Protocol<Parameters> {
  readonly #roles: readonly TrustingRole[];

  constructor(roles: readonly TrustingRole[]) {
    this.#roles = roles;
  }

  read({ body }: Exchange): { action: string; parameters: Parameters } {
    const parameters = Parameters.ofForm(body);
    const action = parameters.required('Action');
    if (action === 'AssumeRole') return { action, parameters };
    throw new CloudError('InvalidAction', `Could not find operation ${action}`);
  }

  act(action: string, parameters: Parameters, requestId: string): string {
    const result = this.#assumeRole(parameters);
    const tree = { [`${action}Result`]: result, ResponseMetadata: { RequestId: requestId } };
    return xmlDocument(`${action}Response`, tree, namespace);
  }

  refuse({ code, message, status }: CloudError, requestId: string): string {
    const fault = { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message };
    return xmlDocument('ErrorResponse', { Error: fault, RequestId: requestId }, namespace);
  }

  /** One refusal for whatever is amiss, as STS gives: who asks shall not learn which roles there are. */
  #assumeRole(parameters: Parameters): XmlTree {
    const arn = parameters.required('RoleArn');
    const session = parameters.required('RoleSessionName');
    const role = this.#roles.find((one) => one.arn === arn);
    const isTrusted =
      role && (role.externalID ?? parameters.text('ExternalId')) === parameters.text('ExternalId');
    if (!isTrusted) {
      const message = `User: arn:aws:iam::123456789012:user/sandbox is not authorized to perform: sts:AssumeRole on resource: ${arn}`;
      throw new CloudError('AccessDenied', message, 403);
    }
    return {
      AssumedRoleUser: { Arn: `${arn}/${session}`, AssumedRoleId: `AROA:${session}` },
      Credentials: {
        AccessKeyId: accessKeyOf(arn),
        SecretAccessKey: 'sandbox',
        SessionToken: `session-of-${arn}`,
        Expiration: new Date(Date.now() + hours(1)).toISOString(),
      },
    };
  }
}

/** The name that calls made by a role go by. A slash would end it where a signature is read. */
export function accessKeyOf(arn: string): string {
  return `role:${arn.replaceAll('/', '.')}`;
}
