/** Clouds whose sizes and prices are known here. */
export const cloudNames = ['aws', 'gcp'] as const;
export type CloudName = (typeof cloudNames)[number];

/** `m8i` of `m8i.large` and of `m8i.metal-48xl` on AWS; `c3` of `c3-highcpu-192-metal` on GCP. */
export function familyOf(cloud: CloudName, instanceType: string): string {
  return instanceType.split(cloud === 'aws' ? '.' : '-', 1)[0] ?? instanceType;
}
