import type { CloudName } from '../instances/cloud.ts';
import type { UnikraftNodeClassSpec } from './types.ts';

/** Where machines of a class are. */
export interface Place {
  readonly cloud: CloudName;
  readonly region: string;
}

/** Undefined for a class without a cloud, which validation keeps from being used. */
export function placeOf({
  aws,
  gcp,
}: Pick<UnikraftNodeClassSpec, 'aws' | 'gcp'>): Place | undefined {
  if (aws) return { cloud: 'aws', region: aws.region };
  return gcp && { cloud: 'gcp', region: gcp.region };
}
