import { Route53Client } from '@aws-sdk/client-route-53';

import { awsConfig } from '../../aws/config.ts';
import type { AwsRole } from '../../aws/role.ts';

/** Route 53 is one service for all regions; its API is signed for this one. */
const region = 'us-east-1';

/** By the role that may write to the zone, when that is not the operator's own identity. */
export function route53Client({
  maxAttempts,
  ...role
}: AwsRole & { maxAttempts?: number } = {}): Route53Client {
  return new Route53Client(awsConfig({ region, ...role }, maxAttempts));
}
