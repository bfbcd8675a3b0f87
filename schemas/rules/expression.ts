import { isThere } from './ours.ts';
import { alternativesOf } from './places.ts';
import { comparesWithOld, type Rule } from './rule.ts';

/**
 * A rule as one expression on `object` (and `oldObject`), as a policy needs it: true when all is well at every place,
 * and where nothing is to be judged. `self` becomes the item of a list, or of a list of one.
 */
export function onObject(rule: Pick<Rule, 'path' | 'cel'>): string {
  const each = comparesWithOld(rule) ? againstOld : alone;
  return alternativesOf(rule.path)
    .map((path) => `(${each(path, rule.cel)})`)
    .join(' && ');
}

function alone(path: string, cel: string): string {
  const place = path.replace(/\[\]$/, '');
  const values = path.endsWith('[]') ? `object.${place}` : `[object.${place}]`;
  return `!(${isThere(place)}) || ${values}.all(self, ${cel})`;
}

function againstOld(path: string, cel: string): string {
  const both = `${isThere(path)} && ${isThere(path, 'oldObject')}`;
  return `!(${both}) || [object.${path}].all(self, [oldObject.${path}].all(oldSelf, ${cel}))`;
}
