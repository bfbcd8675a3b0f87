import type { KubeObject } from '#schemas/kubernetes/meta.ts';

interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** Whether a list or watch with these options shows the object; the selectors are those that this project sends. */
export function selects(selection: Selection, object: KubeObject): boolean {
  return selector(selection)(object);
}

/** The same for many objects: what is selected by is read once. */
export function selector(selection: Selection): (object: KubeObject) => boolean {
  const { namespace, labelSelector, fieldSelector } = selection;
  const byLabels = partsOf(labelSelector).map(toTest);
  const byFields = partsOf(fieldSelector).map(toTest);
  return (object) => {
    const { labels = {}, namespace: own } = object.metadata ?? {};
    return (
      (namespace === undefined || own === namespace) &&
      byLabels.every((test) => test((key) => labels[key])) &&
      byFields.every((test) => test((path) => fieldOf(object, path)))
    );
  };
}

type Test = (valueOf: (key: string) => string | undefined) => boolean;

/** `key`, `!key`, `key=value`, `key==value` or `key!=value`; a set such as `key in (a, b)` is not understood. */
function toTest(part: string): Test {
  const [, key = '', operator, value] = /^(.*?)\s*(==|!=|=)\s*(.*)$/.exec(part) ?? [];
  if (operator === '!=') return (valueOf) => valueOf(key) !== value;
  if (operator !== undefined) return (valueOf) => valueOf(key) === value;
  if (part.includes('(')) throw new Error(`selector "${part}" is more than this fake understands`);
  if (part.startsWith('!')) return (valueOf) => valueOf(part.slice(1)) === undefined;
  return (valueOf) => valueOf(part) !== undefined;
}

function partsOf(selector: string | undefined): string[] {
  return (selector ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function fieldOf(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const field of path.split('.'))
    value = (value as Record<string, unknown> | undefined)?.[field];
  return typeof value === 'string' ? value : '';
}
