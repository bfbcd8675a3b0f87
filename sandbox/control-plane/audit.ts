import { readFile } from 'node:fs/promises';

/** One request that the API server answered. */
export interface AuditEntry {
  /** `system:serviceaccount:NAMESPACE:NAME` for Pods and the controller. */
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** Plural, as in the URL; empty for paths that are no resource. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
  /** When the request came, RFC 3339 with microseconds. */
  readonly at: string;
  /** What admission noted. */
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Who did what, without bodies, one entry a request when it is answered (a watch: when it ends). The control
 * plane's own reads and everything that is no resource are left out: they are many and nobody counts them.
 *
 * Source: Kubernetes, "Auditing".
 */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', nonResourceURLs: ['*'] },
    {
      level: 'None',
      users: ['system:apiserver', 'system:kube-scheduler', 'system:kube-controller-manager'],
      verbs: ['get', 'list', 'watch'],
    },
    { level: 'Metadata' },
  ],
} as const;

const WRITES: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);

/** Whether the request could change something: whoever sends it, whatever came of it. */
export function isWrite({ verb }: AuditEntry): boolean {
  return WRITES.has(verb);
}

/** As the API server writes it; what a request does not have is left out. */
interface WireEntry {
  verb: string;
  user?: { username?: string };
  objectRef?: {
    apiGroup?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
  annotations?: Record<string, string>;
}

/** Reads an audit log that the API server may be writing at this moment; half a last line is left out. */
export async function readAudit(file: string): Promise<AuditEntry[]> {
  const text = await readFile(file, 'utf8');
  return text.split('\n').flatMap((line) => parse(line) ?? []);
}

const NOWHERE = { apiGroup: '', resource: '', subresource: '', namespace: '', name: '' };

function parse(line: string): AuditEntry | undefined {
  const wire = parseLine(line);
  if (!wire) return undefined;
  const { apiGroup: group, ...ref } = { ...NOWHERE, ...wire.objectRef };
  const { resource, subresource, namespace, name } = ref;
  return {
    group,
    resource,
    subresource,
    namespace,
    name,
    user: wire.user?.username ?? '',
    verb: wire.verb,
    code: wire.responseStatus?.code ?? 0,
    at: wire.requestReceivedTimestamp,
    annotations: wire.annotations ?? {},
  };
}

function parseLine(line: string): WireEntry | undefined {
  try {
    return JSON.parse(line) as WireEntry;
  } catch {
    return undefined; // being written
  }
}
