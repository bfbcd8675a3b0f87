import { stringify } from 'yaml';

import { enforcements, quotaAdmission } from '#schemas/quotapolicy/admission.ts';

import type { Generated } from './files.ts';

/** kustomize/components/quota-policies: what the API server itself makes of UnikraftQuotaPolicies. */
export function quotaPolicyFiles(): Generated[] {
  const documents = enforcements
    .flatMap(quotaAdmission)
    .map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false }));
  const note = '# Made by `npm run generate` from schemas/quotapolicy/admission.ts; do not edit.\n';
  return [
    {
      path: 'kustomize/components/quota-policies/policies.yaml',
      text: note + documents.join('---\n'),
    },
  ];
}
