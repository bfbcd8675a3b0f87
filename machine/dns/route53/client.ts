import { Route53Client } from '@aws-sdk/client-route-53';

import { awsConfig } from '../../aws/config.ts';

/** Route 53 is one service for all regions; its API is signed for this one. */
const region = 'us-east-1';

/** @param options.assumeRoleARN  the role that may write to the zone, when that is not the operator's own */
export function route53Client(
  options: { assumeRoleARN?: string; maxAttempts?: number } = {},
): Route53Client {
  const { assumeRoleARN, maxAttempts } = options;
  return new Route53Client(awsConfig({ region, assumeRoleARN }, maxAttempts));
}
