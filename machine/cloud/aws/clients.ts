import { EC2Client } from '@aws-sdk/client-ec2';

import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { type AwsConnection, awsConfig } from '../../aws/config.ts';
import { pace } from '../../aws/paced.ts';
import { roleKey } from '../../aws/role.ts';
import { Reach } from '../../reach.ts';

/**
 * Reads and writes of one region by one role. They have separate retry budgets and turns: a storm of refused Describes
 * would else leave none for the launches and terminations that matter more (aws/karpenter-provider-aws#7961).
 */
export interface Ec2Clients {
  readonly read: EC2Client;
  readonly write: EC2Client;
}

/** Key of a connection, for caches beside it. */
export function connectionKey({ region, ...role }: AwsConnection): string {
  return `${region} ${roleKey(role)}`;
}

/** Makes each connection's clients once and keeps them: the SDK's limiter and its connections live in the client. */
export class Ec2ClientPool {
  readonly #clients = new Map<string, Ec2Clients>();
  readonly #maxAttempts: number | undefined;
  readonly #clock: Clock;

  constructor({ maxAttempts, clock }: { maxAttempts?: number; clock?: Clock } = {}) {
    this.#maxAttempts = maxAttempts;
    this.#clock = clock ?? new SystemClock();
  }

  for(connection: AwsConnection): Ec2Clients {
    const key = connectionKey(connection);
    const known = this.#clients.get(key);
    if (known) return known;
    const reach = new Reach(this.#clock, `EC2 in ${connection.region}`);
    const make = (): EC2Client =>
      pace(new EC2Client(awsConfig(connection, this.#maxAttempts)), this.#clock, reach);
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
