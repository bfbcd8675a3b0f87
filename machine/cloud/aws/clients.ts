import { EC2Client } from '@aws-sdk/client-ec2';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { StandardRetryStrategy } from '@smithy/util-retry';

import { seconds } from '#schemas/time/clock.ts';

import { NodeClassError } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { isFinal } from './errors.ts';

/** Whose account, and where. */
export interface AwsConnection {
  readonly region: string;
  readonly assumeRoleARN?: string | undefined;
}

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

  for(connection: AwsConnection): Ec2Clients {
    const key = connectionKey(connection);
    const known = this.#clients.get(key);
    if (known) return known;
    const make = (): EC2Client => secured(new EC2Client(awsConfig(connection)));
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

/**
 * What every AWS client here shares. Credentials come from the SDK's default chain (IRSA, Pod Identity, environment,
 * instance role), through the role when one is named; endpoints from the standard AWS_ENDPOINT_URL_* variables.
 */
export function awsConfig({ region, assumeRoleARN }: AwsConnection) {
  return {
    region,
    retryStrategy: new CandidRetryStrategy(4),
    requestHandler: new NodeHttpHandler({
      connectionTimeout: seconds(5),
      requestTimeout: seconds(60),
      // without it a server that hangs costs a warning, and the call hangs with it
      throwOnRequestTimeout: true,
    }),
    ...(assumeRoleARN === undefined ? {} : { credentials: assumedRole(region, assumeRoleARN) }),
  };
}

/** Repeats what may pass in a second, never a lack of capacity: EC2 sends that as 500, which looks repeatable. */
export class CandidRetryStrategy extends StandardRetryStrategy {
  override async refreshRetryTokenForRetry(
    ...[token, info]: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ): ReturnType<StandardRetryStrategy['refreshRetryTokenForRetry']> {
    if (isFinal(info.error)) throw info.error;
    return super.refreshRetryTokenForRetry(token, info);
  }
}

/** Refuses to sign for an endpoint without TLS, unless it is on this very computer, as test stands are. */
export function secured<Client extends Pick<EC2Client, 'middlewareStack'>>(client: Client): Client {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { protocol, hostname } = args.request as { protocol: string; hostname: string };
      if (protocol !== 'https:' && !isLoopback(hostname)) {
        throw new NodeClassError(
          faults.insecureEndpoint,
          `The endpoint ${protocol}//${hostname} has no TLS; use https, or a loopback address for tests.`,
        );
      }
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'refusePlainHttp' },
  );
  return client;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function assumedRole(region: string, RoleArn: string) {
  const sts = new STSClient({ region });
  return async () => {
    const { Credentials } = await sts.send(
      new AssumeRoleCommand({ RoleArn, RoleSessionName: 'karpenter-provider-unikraft' }),
    );
    if (!Credentials?.AccessKeyId || !Credentials.SecretAccessKey) {
      throw new Error(`STS gave no credentials for ${RoleArn}`);
    }
    return {
      accessKeyId: Credentials.AccessKeyId,
      secretAccessKey: Credentials.SecretAccessKey,
      ...(Credentials.SessionToken === undefined ? {} : { sessionToken: Credentials.SessionToken }),
      ...(Credentials.Expiration === undefined ? {} : { expiration: Credentials.Expiration }),
    };
  };
}
