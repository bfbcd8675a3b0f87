import { codes } from '../errors/codes.ts';
import { unikraftNodeClasses } from '../nodeclass/types.ts';
import { comparesWithOld, type Rule } from './rule.ts';
import { quantityTroubles, subsetTroubles } from './subset.ts';

/**
 * What keeps a table of rules from meaning the same everywhere, or from being held to it. Nothing is generated from a
 * table with troubles.
 *
 * @returns a sentence each, with the rule's name; empty for a good table
 */
export function tableTroubles(rules: readonly Rule[]): string[] {
  const names = rules.map(({ name }) => name);
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...doubled.map((name) => `${name}: is the name of two rules`),
    ...rules.flatMap((rule) => troublesOf(rule).map((trouble) => `${rule.name}: ${trouble}`)),
  ];
}

function troublesOf(rule: Rule): string[] {
  return [
    ...subsetTroubles(rule.cel),
    ...(isInCrd(rule) ? stringTroubles(rule) : quantityTroubles(rule.cel)),
    ...sampleTroubles(rule),
    ...updateTroubles(rule),
    ...(rule.code in codes ? [] : [`${rule.code} is not explained in schemas/errors`]),
  ];
}

/** What a node class may not be stands in its own schema; whatever only warns cannot. */
export function isInCrd({ target, severity }: Pick<Rule, 'target' | 'severity'>): boolean {
  return target === unikraftNodeClasses && severity === 'deny';
}

function stringTroubles({ cel }: Rule): string[] {
  return /\bstring\(/.test(cel)
    ? ['string() has no bound in the cost that a CRD may have, so the API server would refuse it']
    : [];
}

function sampleTroubles({ accepts, rejects }: Rule): string[] {
  return [
    ...(accepts.length > 0 ? [] : ['has no sample that it accepts']),
    ...(rejects.length > 0 ? [] : ['has no sample that it rejects']),
  ];
}

function updateTroubles(rule: Rule): string[] {
  const { operations, path, before } = rule;
  const isForCreate = operations.includes('CREATE');
  return [
    ...(comparesWithOld(rule) && isForCreate ? ['compares with what was not there on CREATE'] : []),
    ...(comparesWithOld(rule) && /[[{]/.test(path) ? ['compares items of lists, which move'] : []),
    ...(!isForCreate && !before ? ['does not say what its samples are an update of'] : []),
  ];
}
