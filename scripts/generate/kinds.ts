import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies } from '#schemas/quotapolicy/types.ts';
import { nodeClass } from '#schemas/rules/samples.ts';

/** A column of `kubectl get`; one with a priority shows with `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

/** A kind of ours, with what its schema does not say. */
export interface Kind {
  readonly resource: Resource;
  /** The folder of schemas/ that its schema stands in; the file is called after the kind. */
  readonly folder: string;
  readonly shortName: string;
  readonly columns: readonly Column[];
  /** For the reference page. */
  readonly sample: KubeObject;
  /** Paragraphs of the reference page before and after the sample. */
  readonly before?: string;
  readonly after?: string;
}

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function condition(type: string, field: 'status' | 'reason'): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

export const kinds: readonly Kind[] = [
  {
    resource: unikraftNodeClasses,
    folder: 'nodeclass',
    shortName: 'unc',
    columns: [
      {
        name: 'Ready',
        type: 'string',
        description: 'Whether machines can be made.',
        jsonPath: condition('Ready', 'status'),
      },
      {
        name: 'Reason',
        type: 'string',
        description: 'Why; UsingStableRevision beside True means that the newest spec is not used.',
        jsonPath: condition('Ready', 'reason'),
      },
      age,
      { name: 'Machines', type: 'integer', priority: 1, jsonPath: '.status.machines' },
      { name: 'Region', type: 'string', priority: 1, jsonPath: ".spec['aws','gcp'].region" },
      { name: 'Image', type: 'string', priority: 1, jsonPath: '.status.image.id' },
      { name: 'DNSZone', type: 'string', priority: 1, jsonPath: '.spec.dns.zone' },
      { name: 'Revision', type: 'string', priority: 1, jsonPath: '.status.currentRevision' },
    ],
    sample: nodeClass(),
    before:
      "The vendor's own provider is closed and its objects are not public. This kind is the project's own design.",
    after: `Secrets that it names are read in the operator's namespace.

Durations are whole numbers with \`s\`, \`m\` or \`h\`, also several: \`90s\`, \`1h30m\`. There are no days and no \`Never\` here; of a NodePool's,
\`expireAfter\` and \`consolidateAfter\` take \`Never\` too.

Conditions, events, and what to do about each: [conditions.md](conditions.md).`,
  },
  {
    resource: unikraftQuotaPolicies,
    folder: 'quotapolicy',
    shortName: 'uqp',
    columns: [
      { name: 'Enforcement', type: 'string', jsonPath: '.spec.enforcement' },
      {
        name: 'Ready',
        type: 'string',
        description: 'Whether the ceilings hold.',
        jsonPath: condition('Ready', 'status'),
      },
      {
        name: 'Capped',
        type: 'string',
        description: 'Whether anything asks for more than is allowed.',
        jsonPath: condition('Capped', 'status'),
      },
      {
        name: 'Limit-Reached',
        type: 'string',
        description: 'Whether a sum leaves no room.',
        jsonPath: condition('LimitReached', 'status'),
      },
      age,
      { name: 'Pools', type: 'integer', priority: 1, jsonPath: '.status.selectedNodePools' },
      { name: 'Nodes', type: 'string', priority: 1, jsonPath: '.status.total.use.nodes' },
    ],
    sample: quotaPolicy(),
    after:
      'docs/adr/0008-ceilings.md tells why it is as it is; the component kustomize/components/quota-policies makes the API server refuse and warn.',
  },
];
