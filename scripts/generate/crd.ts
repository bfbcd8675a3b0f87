import { stringify } from 'yaml';

import { group } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';

import type { Generated } from './files.ts';
import type { Schema } from './schema.ts';

const note = '# Made by `npm run generate` from schemas/; do not edit.\n';
const { version, kind, plural } = unikraftNodeClasses;
const file = `${group}_${plural}.yaml`;

/** Columns of `kubectl get`; those with a priority show with `-o wide` only. */
const columns = [
  {
    name: 'Ready',
    type: 'string',
    description: 'Whether machines can be made.',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'Reason',
    type: 'string',
    priority: 1,
    description: 'Why it is not ready.',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  },
  { name: 'Machines', type: 'integer', priority: 1, jsonPath: '.status.machines' },
  { name: 'Region', type: 'string', priority: 1, jsonPath: '.spec.aws.region' },
  { name: 'Image', type: 'string', priority: 1, jsonPath: '.status.image.id' },
  { name: 'Zone', type: 'string', priority: 1, jsonPath: '.spec.dns.zone' },
  { name: 'Revision', type: 'string', priority: 1, jsonPath: '.status.currentRevision' },
];

/** The CustomResourceDefinition, and the kustomization that lists it. */
export function crdFiles(schema: Schema): Generated[] {
  const { description, required, properties } = schema;
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
        shortNames: ['unc'],
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
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [file],
  };
  return [
    { path: `kustomize/crd/${file}`, text: note + asYaml(definition) },
    { path: 'kustomize/crd/kustomization.yaml', text: note + asYaml(kustomization) },
  ];
}

/** Long lines stay whole, so that a changed word is a changed line; anchors would hide what a field allows. */
function asYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
