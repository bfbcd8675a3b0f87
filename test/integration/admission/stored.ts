/** Cases put to an API server: as dry runs, on top of objects that were stored before there were rules. */
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { pods, type Key, type Resource } from '#schemas/kubernetes/resource.ts';
import type { Case } from '#schemas/rules/corpus.ts';
import { rules } from '#schemas/rules/table.ts';

import type { Answer, Asker } from './asking.ts';

const dryRun = { dryRun: 'All' };

export function resourceOf({ kind }: KubeObject): Resource {
  const target = rules.map((rule) => rule.target).find((one) => one.kind === kind);
  if (!target) throw new Error(`no rule is about ${kind}`);
  return target;
}

/** Each case has an object of its own. */
export function keyOf({ object }: Case, index: number): Key {
  const name = `case-${index}`;
  return resourceOf(object).namespaced ? { namespace: 'default', name } : { name };
}

/** Stores what the case is an update of. Owners are left out: they do not exist, and the object would be collected. */
export async function store(asker: Asker, one: Case, index: number): Promise<Answer> {
  const key = keyOf(one, index);
  const { metadata: { ownerReferences: _, ...metadata } = {}, ...rest } = one.oldObject ?? {};
  const body = { ...rest, metadata: { ...metadata, ...key } };
  const { name: __, ...where } = key;
  return asker.ask({ method: 'POST', resource: resourceOf(one.object), key: where, body });
}

/** What the server makes of the case; nothing is written. */
export async function put(asker: Asker, one: Case, index: number): Promise<Answer> {
  const key = keyOf(one, index);
  const resource = resourceOf(one.object);
  const { name: _, ...where } = key;
  const body = { ...one.object, metadata: { ...one.object.metadata, ...key } };
  if (one.operation === 'CREATE') {
    return asker.ask({ method: 'POST', resource, key: where, body, query: dryRun });
  }
  const live = await asker.ask({ method: 'GET', resource, key });
  const updated = resource === pods ? overLive(live.body, one) : body;
  const { resourceVersion, uid } = live.body.metadata ?? {};
  const metadata = { ...body.metadata, resourceVersion, uid };
  return asker.ask({
    method: 'PUT',
    resource,
    key,
    subresource: one.subResource,
    body: { ...updated, metadata },
    query: dryRun,
  });
}

type Spec = Record<string, unknown>;

/** A stored Pod has more than was written, and most of it may not change: only what differs is taken over. */
function overLive(live: KubeObject, { object, oldObject }: Case): KubeObject {
  const [is, was, will] = [specOf(live), specOf(oldObject), specOf(object)];
  const changed = Object.keys({ ...was, ...will }).filter(
    (field) => JSON.stringify(was[field]) !== JSON.stringify(will[field]),
  );
  const spec = { ...is, ...Object.fromEntries(changed.map((field) => [field, will[field]])) };
  if (changed.includes('containers')) spec['containers'] = merged(is, will);
  return { ...object, spec } as KubeObject;
}

function merged(is: Spec, will: Spec): object[] {
  const present = is['containers'] as object[];
  return (will['containers'] as object[]).map((one, index) => ({ ...present[index], ...one }));
}

function specOf(object: KubeObject | undefined): Spec {
  return (object as { spec?: Spec } | undefined)?.spec ?? {};
}
