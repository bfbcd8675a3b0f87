/**
 * Writes to the API server in words. What a patch of a NodeClaim's status says is part of its name, since a machine's
 * life is told there: the first condition that is not yet true, with its reason.
 */
import { story } from '#controller/nodeclaim/steps/claim-in-hand.ts';

import type { Deed, Exchange } from './exchange.ts';

interface Target {
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** What a call to the API server does. Leases are renewed whatever a machine does: they are no deeds of it. */
export function kubernetesDeed({ method, path, body }: Exchange): Deed {
  const target = targetOf(path);
  const isRead = method === 'GET' || target.resource === 'leases';
  if (isRead) return { name: `${method} ${target.resource}`, changes: false };
  const content = parsed(body);
  const what = [target.resource, target.subresource].filter(Boolean).join('/');
  const detail = detailOf(target, content);
  const isLedger = isWholeCluster(target, content);
  const verb = isLedger ? 'write' : (verbs[method] ?? method); // made for the first machine, deleted with the last
  return {
    name: `${verb} ${what}${detail && ` ${detail}`}`,
    changes: true,
    shared: isLedger ? 'call' : sharedBy(target),
  };
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'replace',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Events are sent one after the other; one plan is for all Pods, and rests on pools that are looked at by few at once. */
function sharedBy({ resource, name }: Target): Deed['shared'] {
  if (resource === 'events') return 'turn';
  const isPlan = resource === 'nodeclaims' && name === undefined;
  return isPlan || resource === 'nodepools' ? 'plan' : undefined;
}

/** `/api/v1/namespaces/NS/pods/NAME/eviction`, `/apis/GROUP/VERSION/nodeclaims/NAME`. */
function targetOf(path: string): Target {
  const [plain = ''] = path.split('?');
  const words = plain.split('/').filter((word) => word !== '');
  const rest = words.slice(words[0] === 'api' ? 2 : 3);
  const own = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  const [resource = '', name, subresource] = own;
  return { resource, name, subresource };
}

interface Content {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, unknown>> & { readonly name?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly Condition[] };
  readonly [key: string]: unknown;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

function parsed(body: string): Content {
  try {
    return JSON.parse(body) as Content;
  } catch {
    return {};
  }
}

/** Of the machine that it is about, which is told anyway: `case-001-0123abcd-api`, `case-001-pod`. */
const machine = /case-\d{3}(-[0-9a-f]{8})?/;

const isCluster = (name = ''): boolean => name.endsWith('-cluster');

function isWholeCluster({ resource, name }: Target, { metadata }: Content): boolean {
  return resource === 'configmaps' && isCluster(name ?? metadata?.name);
}

function detailOf(target: Target, content: Content): string {
  const { resource, name = content.metadata?.name ?? '' } = target;
  const own = details[resource];
  return own ? own(target, content) : name.replace(machine, '*');
}

const details: Readonly<Record<string, (target: Target, content: Content) => string>> = {
  events: (_, { reason = '' }) => reason,
  configmaps: (...call) => (isWholeCluster(...call) ? 'of the cluster' : 'of the pool'),
  nodes: (_, { metadata, spec }) =>
    Object.keys({ ...metadata, ...spec })
      .filter(isTold)
      .join(', '),
  nodeclaims: ({ name, subresource }, content) => {
    if (subresource === 'status') return progressIn(content.status?.conditions ?? []);
    return name === undefined ? '' : changesIn(content);
  },
};

const isTold = (key: string): boolean => key !== 'resourceVersion' && key !== 'uid';

/** How far it has got, and what is waited for; at the end of its life what has been undone. */
function progressIn(conditions: readonly Condition[]): string {
  const byType = new Map(conditions.map((condition) => [condition.type, condition]));
  const reached = story.findLast((type) => byType.get(type)?.status === 'True') ?? 'nothing';
  const ofEnd = conditions.filter(({ type }) => endOfLife.has(type));
  const open = [...story.flatMap((type) => byType.get(type) ?? []).filter(isOpen), ...ofEnd];
  return [reached, ...open.map(told)].join('; ');
}

const endOfLife = new Set(['Drained', 'InstanceTerminated']);

function isOpen({ status, reason }: Condition): boolean {
  return status !== 'True' && reason !== 'AwaitingReconciliation';
}

function told({ type, status, reason = '' }: Condition): string {
  return status === 'True' ? type : `${type} ${reason}`;
}

/** The names of what a patch changes: `finalizers`, `launch-intent`, `labels`. */
function changesIn({ metadata = {}, spec = {} }: Content): string {
  const named = Object.entries(metadata).flatMap(([key, value]) =>
    key === 'annotations' ? Object.keys(value as object).map(lastWord) : [key],
  );
  return [...named, ...Object.keys(spec)].filter(isTold).join(', ');
}

function lastWord(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
