import { STSClient } from '@aws-sdk/client-sts';
import { type DefaultProviderInit, defaultProvider } from '@aws-sdk/credential-provider-node';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { StandardRetryStrategy } from '@smithy/util-retry';

import { seconds } from '#schemas/time/clock.ts';

import { NodeClassError } from '../errors.ts';
import { faults } from '../faults.ts';
import { isFinal } from './errors.ts';
import { promptly } from './promptly.ts';
import { type AwsRole, credentialsOf } from './role.ts';

/** Whose account, and where. */
export interface AwsConnection extends AwsRole {
  readonly region: string;
}

/**
 * What every AWS client here shares. Credentials come from the SDK's default chain (IRSA, Pod Identity, environment,
 * instance role), through the role when one is named; endpoints from the standard AWS_ENDPOINT_URL_* variables.
 *
 * @param maxAttempts  how often a call is tried in all when it is throttled or its outcome is unknown
 */
export function awsConfig({ region, ...role }: AwsConnection, maxAttempts = 4) {
  const ofItsOwn = { ...sharedConfig(maxAttempts), region };
  if (role.assumeRoleARN === undefined) return ofItsOwn;
  return { ...ofItsOwn, credentials: promptly(() => credentialsOf(new STSClient(ofItsOwn), role)) };
}

function sharedConfig(maxAttempts: number) {
  return {
    credentialDefaultProvider: (init: DefaultProviderInit) => promptly(() => defaultProvider(init)),
    retryStrategy: new CandidRetryStrategy(maxAttempts),
    requestHandler: new PrivateHttpHandler({
      connectionTimeout: seconds(5),
      requestTimeout: seconds(60),
      // without it a server that hangs costs a warning, and the call hangs with it
      throwOnRequestTimeout: true,
    }),
  };
}

/** Repeats what may pass in a second, never a lack of capacity: EC2 sends that as 500, which looks repeatable. */
class CandidRetryStrategy extends StandardRetryStrategy {
  override async refreshRetryTokenForRetry(
    ...[token, info]: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ): ReturnType<StandardRetryStrategy['refreshRetryTokenForRetry']> {
    if (isFinal(info.error)) throw info.error;
    return super.refreshRetryTokenForRetry(token, info);
  }
}

/** Sends nothing to an endpoint without TLS, unless it is on this very computer, as test stands are. */
class PrivateHttpHandler extends NodeHttpHandler {
  override async handle(
    ...[request, options]: Parameters<NodeHttpHandler['handle']>
  ): ReturnType<NodeHttpHandler['handle']> {
    const { protocol, hostname } = request;
    if (protocol !== 'https:' && !isLoopback(hostname)) {
      throw new NodeClassError(
        faults.insecureEndpoint,
        `The endpoint ${protocol}//${hostname} has no TLS; use https, or a loopback address for tests.`,
      );
    }
    return super.handle(request, options);
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
