import { AssumeRoleCommand, type STSClient } from '@aws-sdk/client-sts';

import { NodeClassError, OutcomeUnknown, Unauthorized } from '../errors.ts';
import { faults } from '../faults.ts';
import { toMachineError } from './errors.ts';

/** The role that calls are made by, where that is not the operator's own identity. */
export interface AwsRole {
  readonly assumeRoleARN?: string | undefined;
  /** What the role's trust policy asks for, so that nobody can have us act in another one's account. */
  readonly assumeRoleExternalID?: string | undefined;
}

/** Equal for roles that are the same. */
export function roleKey({ assumeRoleARN = '', assumeRoleExternalID = '' }: AwsRole): string {
  return [assumeRoleARN, assumeRoleExternalID].filter((part) => part !== '').join(' ');
}

/**
 * Credentials of a role, as an SDK client asks for them: anew before the last ones end.
 *
 * STS refuses with one code whatever is wrong, and does not say whether it is the trust policy, the external id or the
 * right to assume the role, so all three are named.
 *
 * Source: AWS STS API reference, AssumeRole; IAM user guide, "Access to AWS accounts owned by third parties".
 *
 * @throws NodeClassError when the role is refused; MachineError for what says nothing about it
 */
export function credentialsOf(sts: STSClient, { assumeRoleARN, assumeRoleExternalID }: AwsRole) {
  return async () => {
    const answer = await sts
      .send(
        new AssumeRoleCommand({
          RoleArn: assumeRoleARN,
          RoleSessionName: 'karpenter-provider-unikraft',
          ...(assumeRoleExternalID !== undefined && { ExternalId: assumeRoleExternalID }),
        }),
      )
      .catch((error: unknown) => {
        throw refused(error, `Assuming ${assumeRoleARN}`, assumeRoleExternalID);
      });
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answer.Credentials ?? {};
    if (!AccessKeyId || !SecretAccessKey) {
      throw new OutcomeUnknown(`STS answered without credentials of ${assumeRoleARN}`);
    }
    return {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      ...(SessionToken === undefined ? {} : { sessionToken: SessionToken }),
      ...(Expiration === undefined ? {} : { expiration: Expiration }),
    };
  };
}

function refused(error: unknown, doing: string, externalID: string | undefined): Error {
  const known = toMachineError(error, doing);
  if (!(known instanceof Unauthorized)) return known;
  const by =
    externalID === undefined ? 'without an external id' : 'with the external id of the class';
  return new NodeClassError(
    faults.roleRefused,
    `${known.message} (it was asked for ${by}); look at the role's trust policy, its external id, and the right to assume it`,
    { cause: error },
  );
}
