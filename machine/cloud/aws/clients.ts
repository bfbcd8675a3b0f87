import { EC2Client } from '@aws-sdk/client-ec2';

import { type AwsConnection, awsConfig } from '../../aws/config.ts';

/**
 * Reads and writes of one region by one role. They have separate retry budgets: a storm of refused Describes would
 * else leave none for the launches and terminations that matter more (aws/karpenter-provider-aws#7961).
 */
export interface Ec2Clients {
  readonly read: EC2Client;
  readonly write: EC2Client;
}

/** Key of a connection, for caches beside it. */
export function connectionKey({ region, assumeRoleARN = '' }: AwsConnection): string {
  return `${region} ${assumeRoleARN}`;
}

/** Makes each connection's clients once and keeps them: the SDK's limiter and its connections live in the client. */
export class Ec2ClientPool {
  readonly #clients = new Map<string, Ec2Clients>();
  readonly #maxAttempts: number | undefined;

  constructor(options: { maxAttempts?: number } = {}) {
    this.#maxAttempts = options.maxAttempts;
  }

  for(connection: AwsConnection): Ec2Clients {
    const key = connectionKey(connection);
    const known = this.#clients.get(key);
    if (known) return known;
    const make = (): EC2Client => new EC2Client(awsConfig(connection, this.#maxAttempts));
    const clients = { read: make(), write: make() };
    this.#clients.set(key, clients);
    return clients;
  }

  /** Closes all connections. */
  close(): void {
    for (const { read, write } of this.#clients.values()) {
      read.destroy();
      write.destroy();
    }
    this.#clients.clear();
  }
}
