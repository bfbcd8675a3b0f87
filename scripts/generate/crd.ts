import { stringify } from 'yaml';

import type { Generated } from './files.ts';
import type { Kind } from './kinds.ts';
import type { Schema } from './schema.ts';

const note = '# Made by `npm run generate` from schemas/; do not edit.\n';

/** The CustomResourceDefinition of one kind. */
export function crdFile(
  { description, required, properties }: Schema,
  { resource: { group, version, kind, plural }, shortName, columns }: Kind,
): Generated {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['karpenter'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required,
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                ...properties,
              },
            },
          },
        },
      ],
    },
  };
  return { path: `kustomize/crd/${fileName(group, plural)}`, text: note + asYaml(definition) };
}

/** The kustomization that lists them. */
export function crdKustomization(kinds: readonly Kind[]): Generated {
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: kinds.map(({ resource: { group, plural } }) => fileName(group, plural)),
  };
  return { path: 'kustomize/crd/kustomization.yaml', text: note + asYaml(kustomization) };
}

function fileName(group: string, plural: string): string {
  return `${group}_${plural}.yaml`;
}

/** Long lines stay whole, so that a changed word is a changed line; anchors would hide what a field allows. */
function asYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
