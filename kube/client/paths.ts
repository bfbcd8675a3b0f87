/** Where things lie in the API: paths and queries, pure. */
import { apiVersionOf, type Resource } from '#schemas/kubernetes/resource.ts';

export interface Target {
  readonly namespace?: string | undefined;
  /** Absent for the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/**
 * `/api/v1/namespaces/default/pods/web/status` and the like; each part is escaped and keeps its case.
 *
 * @throws TypeError for a namespaced object without namespace: it would name another resource's collection
 */
export function pathOf(resource: Resource, target: Target = {}): string {
  const { namespace, name, subresource } = target;
  if (resource.namespaced && name !== undefined && !namespace) {
    throw new TypeError(`${resource.kind} ${name} needs a namespace: the kind is namespaced`);
  }
  const parts = [
    resource.group === '' ? 'api' : 'apis',
    ...apiVersionOf(resource).split('/'),
    ...(resource.namespaced && namespace ? ['namespaces', namespace] : []),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `?limit=500&watch=true`; what is undefined or empty is left out. */
export function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
