import type { GcpSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

/** @throws Error for a class without `gcp`, which the schema keeps from getting this far */
export function gcpOf({ gcp }: UnikraftNodeClassSpec): GcpSpec {
  if (!gcp) throw new Error('This node class is not for Google Cloud: spec.gcp is missing');
  return gcp;
}
