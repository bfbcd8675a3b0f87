import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';

import { type AwsConnection, awsConfig } from '../../aws/config.ts';
import { toMachineError } from '../../aws/errors.ts';

export function ssmClient(connection: AwsConnection): SSMClient {
  return new SSMClient(awsConfig(connection));
}

/** Of a parameter that is encrypted, the value as it is stored. Throws MachineError. */
export async function valueOf(client: SSMClient, Name: string): Promise<string> {
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name }));
    return Parameter?.Value ?? '';
  } catch (error) {
    throw toMachineError(error, `Reading SSM parameter ${Name}`);
  }
}
