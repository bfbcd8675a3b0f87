import { isThere } from './ours.ts';
import { alternativesOf } from './places.ts';
import { comparesWithOld, type Rule } from './rule.ts';

/**
 * A rule as one expression on `object` (and `oldObject`), as a policy needs it: true when all is well at every place,
 * and where nothing is to be judged. `self` becomes the item of a list, or of a list of one.
 *
 * @param untyped what a value is put into, where its type is not to be looked at
 */
export function onObject(rule: Pick<Rule, 'path' | 'cel'>, untyped: Wrap = asItIs): string {
  const each = comparesWithOld(rule) ? againstOld : alone;
  return alternativesOf(rule.path)
    .map((path) => `(${each(path, rule.cel, untyped)})`)
    .join(' && ');
}

type Wrap = (value: string) => string;

function asItIs(value: string): string {
  return value;
}

function alone(path: string, cel: string, wrap: Wrap): string {
  const place = path.replace(/\[\]$/, '');
  const value = wrap(`object.${place}`);
  const values = path.endsWith('[]') ? value : `[${value}]`;
  return `!(${isThere(place)}) || ${values}.all(self, ${cel})`;
}

function againstOld(path: string, cel: string, wrap: Wrap): string {
  const both = `${isThere(path)} && ${isThere(path, 'oldObject')}`;
  const [now, before] = [wrap(`object.${path}`), wrap(`oldObject.${path}`)];
  return `!(${both}) || [${now}].all(self, [${before}].all(oldSelf, ${cel}))`;
}
