import type { SSMClient } from '@aws-sdk/client-ssm';

import type { AwsConnection } from '../../aws/config.ts';
import { NodeClassError } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { connectionKey } from './clients.ts';

/** Reads ids of images from parameters of Systems Manager. Its SDK is loaded once a node class names one. */
export class ImageParameters {
  readonly #clients = new Map<string, SSMClient>();

  /**
   * @param name  name or ARN, with `:version` or `:label`
   * @throws NodeClassError when the parameter holds anything but the id of an image; what it holds may be a secret, which
   *   whoever writes node classes must not get to read, so that it is not said
   */
  async valueOf(connection: AwsConnection, name: string): Promise<string> {
    const { ssmClient, valueOf } = await import('./ssm.ts');
    const key = connectionKey(connection);
    const client = this.#clients.get(key) ?? ssmClient(connection);
    this.#clients.set(key, client);
    const value = await valueOf(client, name);
    if (/^ami-[0-9a-z]+$/.test(value)) return value;
    throw new NodeClassError(
      faults.imageParameter,
      `SSM parameter ${name} of ${connection.region} holds ${value.length} characters that are no id of an image`,
    );
  }
}
