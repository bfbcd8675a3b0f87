import { group, labels, nodeClassKind, taints } from '../names.ts';
import { placesAt } from './places.ts';
import { oneLine } from './text.ts';

/** Where an object of each kind says which node class it is for. */
const references = {
  NodePool: 'spec.template.spec.nodeClassRef',
  NodeClaim: 'spec.nodeClassRef',
} as const;

const { key, value } = taints.kraftlet;

/**
 * Whether an object is aimed at our node class or our nodes, or is a node class. It is asked before any rule runs, so
 * that what belongs to somebody else is never judged, whatever it looks like.
 *
 * A reference is ours by its group. Without a group it is nobody's yet, and ours by the kind.
 */
export function concernsUs(object: unknown): boolean {
  const kind = valueAt(object, 'kind');
  const apiVersion = String(valueAt(object, 'apiVersion'));
  if (kind === 'Pod') return apiVersion === 'v1' && isAimedAtUs(object);
  if (kind === nodeClassKind) return apiVersion.startsWith(`${group}/`);
  if (kind !== 'NodePool' && kind !== 'NodeClaim') return false;
  const given = valueAt(object, `${references[kind]}.group`) ?? '';
  return (
    given === group ||
    (given === '' && valueAt(object, `${references[kind]}.kind`) === nodeClassKind)
  );
}

/** By selector, by the toleration with exactly our key and value, or by the label that asks for both. */
function isAimedAtUs(pod: unknown): boolean {
  const selector = valueAt(pod, 'spec.nodeSelector');
  const own = valueAt(pod, 'metadata.labels');
  return (
    entryOf(selector, labels.virtualKubelet) === 'true' ||
    entryOf(own, labels.inject) === 'true' ||
    placesAt(pod, 'spec.tolerations[]').some(
      ({ value: one }) => entryOf(one, 'key') === key && entryOf(one, 'value') === value,
    )
  );
}

/** A key may hold dots, which a path would take for steps. */
function entryOf(map: unknown, name: string): unknown {
  if (map === null || typeof map !== 'object' || !Object.hasOwn(map, name)) return undefined;
  return (map as Record<string, unknown>)[name];
}

function valueAt(object: unknown, path: string): unknown {
  return placesAt(object, path)[0]?.value;
}

/**
 * The same question as CEL, for the conditions of policies and webhooks; it never stumbles over an object that its
 * schema lets pass. Node classes have no condition: their resource says it all.
 */
export const concernsUsInCel: Readonly<Record<keyof typeof references | 'Pod', string>> = {
  NodePool: refersToUs(references.NodePool),
  NodeClaim: refersToUs(references.NodeClaim),
  Pod: oneLine(`
    (has(object.spec.nodeSelector) && '${labels.virtualKubelet}' in object.spec.nodeSelector
      && object.spec.nodeSelector['${labels.virtualKubelet}'] == 'true')
    || (has(object.metadata.labels) && '${labels.inject}' in object.metadata.labels
      && object.metadata.labels['${labels.inject}'] == 'true')
    || (has(object.spec.tolerations) && object.spec.tolerations.exists(t, has(t.key) && t.key == '${key}'
      && has(t.value) && t.value == '${value}'))`),
};

function refersToUs(path: string): string {
  const at = `object.${path}`;
  return oneLine(`${isThere(path)} && (has(${at}.group) && ${at}.group != ''
    ? ${at}.group == '${group}' : has(${at}.kind) && ${at}.kind == '${nodeClassKind}')`);
}

/** `has()` for each step of the way, since it stumbles over a missing one before the last. */
export function isThere(path: string, root = 'object'): string {
  const steps = path.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'));
  return steps.map((step) => `has(${root}.${step})`).join(' && ');
}
