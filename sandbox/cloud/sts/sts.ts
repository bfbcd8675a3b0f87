import type { Clock } from '#schemas/time/clock.ts';
import { hours, minutes } from '#schemas/time/clock.ts';

import { Parameters } from '../ec2/parameters.ts';
import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import { type XmlTree, xmlDocument } from '../wire/xml.ts';

/** Beside the parameters that the caller sends; no parameter of AWS has a name like it. */
const callerName = 'x-caller';
const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** A role, and what its trust policy asks for. */
export interface TrustingRole {
  readonly arn: string;
  /** Absent: its trust policy names the caller and asks for no more. */
  readonly externalID?: string;
}

export interface StsParts {
  readonly clock: Clock;
  /** A token on who signs with this access key, for an audience; undefined for who is no instance with a role. */
  readonly webIdentity?: (accessKey: string, audience: string) => string | undefined;
}

/**
 * STS on a loopback port: roles that may be assumed, by those who bring the external id that a role asks for. Whose a
 * call is afterwards is the access key's name, `role:<ARN>`.
 */
export class Sts extends WireService<Parameters> {
  readonly roles: TrustingRole[];

  constructor({ clock, webIdentity = () => undefined }: StsParts) {
    const roles: TrustingRole[] = [];
    super(new StsProtocol(roles, webIdentity), clock);
    this.roles = roles;
  }
}

class StsProtocol implements Protocol<Parameters> {
  readonly #roles: readonly TrustingRole[];
  readonly #webIdentity: NonNullable<StsParts['webIdentity']>;

  constructor(roles: readonly TrustingRole[], webIdentity: NonNullable<StsParts['webIdentity']>) {
    this.#roles = roles;
    this.#webIdentity = webIdentity;
  }

  /** Who calls is part of what is asked: a token is about its caller. */
  read({ body, headers }: Exchange): { action: string; parameters: Parameters } {
    const [, caller = ''] = /Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
    const form = new URLSearchParams(body);
    form.set(callerName, caller);
    const parameters = Parameters.ofForm(form.toString());
    const action = parameters.required('Action');
    if (action === 'AssumeRole' || action === 'GetWebIdentityToken') return { action, parameters };
    throw new CloudError('InvalidAction', `Could not find operation ${action}`);
  }

  act(action: string, parameters: Parameters, requestId: string): string {
    const result =
      action === 'AssumeRole' ? this.#assumeRole(parameters) : this.#webIdentityToken(parameters);
    const tree = { [`${action}Result`]: result, ResponseMetadata: { RequestId: requestId } };
    return xmlDocument(`${action}Response`, tree, namespace);
  }

  refuse({ code, message, status }: CloudError, requestId: string): string {
    const fault = { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message };
    return xmlDocument('ErrorResponse', { Error: fault, RequestId: requestId }, namespace);
  }

  /** Source: STS API reference, GetWebIdentityToken. */
  #webIdentityToken(parameters: Parameters): XmlTree {
    const algorithm = parameters.required('SigningAlgorithm');
    const audience = parameters.required('Audience.member.1');
    if (!/^(RS256|ES384)$/.test(algorithm)) {
      throw new CloudError('ValidationError', `SigningAlgorithm ${algorithm} is not known`);
    }
    const token = this.#webIdentity(parameters.text(callerName) ?? '', audience);
    if (token === undefined) {
      const message = 'not authorized to perform: sts:GetWebIdentityToken on resource: *';
      throw new CloudError('AccessDenied', message, 403);
    }
    const expiration = new Date(Date.now() + minutes(5)).toISOString();
    return { WebIdentityToken: token, Expiration: expiration };
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
