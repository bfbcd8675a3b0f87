import type { KubeObject } from '#schemas/kubernetes/meta.ts';

interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** Whether a list or watch with these options shows the object; the selectors are those that this project sends. */
export function selects(
  { namespace, labelSelector, fieldSelector }: Selection,
  object: KubeObject,
): boolean {
  const labels = object.metadata?.labels ?? {};
  return (
    (namespace === undefined || object.metadata?.namespace === namespace) &&
    partsOf(labelSelector).every((part) => matches(part, (key) => labels[key])) &&
    partsOf(fieldSelector).every((part) => matches(part, (path) => fieldOf(object, path)))
  );
}

/** `key`, `!key`, `key=value`, `key==value` or `key!=value`; a set such as `key in (a, b)` is not understood. */
function matches(part: string, valueOf: (key: string) => string | undefined): boolean {
  const [, key = '', operator, value] = /^(.*?)\s*(==|!=|=)\s*(.*)$/.exec(part) ?? [];
  if (operator === '!=') return valueOf(key) !== value;
  if (operator !== undefined) return valueOf(key) === value;
  if (part.includes('(')) throw new Error(`selector "${part}" is more than this fake understands`);
  return part.startsWith('!') ? valueOf(part.slice(1)) === undefined : valueOf(part) !== undefined;
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
