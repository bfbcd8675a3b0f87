/**
 * Requirements on labels that another Karpenter provider gives its nodes: pools are copied from one provider to the
 * next, and such a key would read here as a free label of the user's own.
 */
import type { NodePool, Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

/** Sources: the label reference of each provider (AWS and EKS Auto Mode, Azure, Google Cloud, Alibaba Cloud). */
const foreignDomains = [
  'karpenter.k8s.aws',
  'eks.amazonaws.com',
  'karpenter.azure.com',
  'karpenter.k8s.gcp',
  'karpenter.k8s.alibabacloud',
];

/** What says the same of our machines, by the part of a key after its domain. */
const ours: Readonly<Record<string, string>> = {
  'instance-family': labels.instanceFamily,
  'sku-family': labels.instanceFamily,
  'instance-cpu': labels.instanceVcpus,
  'sku-cpu': labels.instanceVcpus,
  'instance-memory': labels.instanceMemory,
  'sku-memory': labels.instanceMemory,
};

/** @returns one sentence with its field path for each requirement that no machine of ours can meet */
export function foreignKeyMistakes({ spec }: NodePool): string[] {
  const own = spec.template.metadata?.labels ?? {};
  return spec.template.spec.requirements.flatMap((requirement, index) =>
    isForeign(requirement) && !Object.hasOwn(own, requirement.key)
      ? [`spec.template.spec.requirements[${index}].key: ${sentence(requirement.key)}`]
      : [],
  );
}

/** To ask that a label is absent, or not this or that, harms nobody. */
function isForeign({ key, operator }: Requirement): boolean {
  if (operator === 'DoesNotExist' || operator === 'NotIn') return false;
  return foreignDomains.some((domain) => key.startsWith(`${domain}/`));
}

function sentence(key: string): string {
  const name = key.slice(key.indexOf('/') + 1);
  const way = Object.hasOwn(ours, name) ? `use ${ours[name]}` : 'remove the requirement';
  return `${key} is a label of another provider, which no Unikraft machine has; ${way}`;
}
