/**
 * The part of CEL that rules may use: what @marcbachmann/cel-js and Kubernetes' own environment (1.30 to 1.37) answer
 * alike, errors included. Each knows more that the other does not, or reads otherwise.
 *
 * test/integration/admission/judge.test.ts holds it to that: every rule over the corpus, in both.
 */

/** Functions and macros; whatever else stands before a bracket is refused. */
export const functions: ReadonlySet<string> = new Set([
  'add',
  'all',
  'contains',
  'endsWith',
  'exists',
  'exists_one',
  'filter',
  'has',
  'isGreaterThan',
  'isLessThan',
  'isQuantity',
  'matches',
  'quantity',
  'size',
  'startsWith',
  'string',
]);

/** Names that mean something to CEL and cannot be a variable's; as fields some versions refuse them too. */
const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** What a person who writes a rule has to know, with where it would be met. */
const traps: readonly (readonly [pattern: RegExp, because: string])[] = [
  [/\.\?|\[\?|\boptional\b/, 'optionals cannot be compared in cel-js'],
  [/\bbytes\b|\bb'|\bb"/, 'bytes differ'],
  [/\br'|\br"/, 'raw strings hide escapes from this check'],
  [/\{/, 'a map literal is never equal to a map of an object in cel-js'],
  [/\d\.\d|\d[eE][+-]?\d/, 'decimals are compared with integers differently; use quantity()'],
  [/\b\d+u\b/, 'unsigned numbers do not occur in JSON'],
];

/** @returns why an expression cannot be a rule, one sentence for each reason; empty when it can */
export function subsetTroubles(expression: string): string[] {
  const literals = literalsIn(expression);
  const code = withoutLiterals(expression);
  return [
    ...[...code.matchAll(/([A-Za-z_]\w*)\s*\(/g)]
      .map(([, name = '']) => name)
      .filter((name) => !functions.has(name))
      .map((name) => `${name}() does not mean the same everywhere`),
    ...[...code.matchAll(/[A-Za-z_]\w*/g)]
      .map(([name]) => name)
      .filter((name) => reserved.has(name))
      .map((name) => `${name} is a word of the language`),
    ...traps.filter(([pattern]) => pattern.test(code)).map(([, because]) => because),
    ...[...code.matchAll(/\bhas\(([^()]*)/g)]
      .map(([, text = '']) => text.trim())
      .filter((text) => !/^[A-Za-z_]\w*(\.\w+)+$/.test(text))
      .map((text) => `has(${text}) asks for more than a plain path of names`),
    ...patternsIn(expression, literals).flatMap(patternTroubles),
    ...literals.flatMap(literalTroubles),
  ];
}

const literal = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

function literalsIn(expression: string): string[] {
  return expression.match(literal) ?? [];
}

function withoutLiterals(expression: string): string {
  return expression.replaceAll(literal, "''");
}

/**
 * A quantity may be written as a number, which quantity() does not take: string() makes both the same. Where a schema of
 * ours allows text alone it is not needed, and in a CRD it must not be there: the API server reckons its cost as endless.
 */
export function quantityTroubles(expression: string): string[] {
  const code = withoutLiterals(expression);
  const given = [...code.matchAll(/\b(?:quantity|isQuantity)\(([^)]*)/g)];
  return given
    .map(([, text = '']) => text.trim())
    .filter((text) => text !== "''" && !text.startsWith('string('))
    .map((text) => `quantity(${text}) fails on numbers; write quantity(string(${text}))`);
}

/** What is given to matches(): a literal each, without its quotes; undefined for what cannot be looked at. */
function patternsIn(expression: string, literals: readonly string[]): (string | undefined)[] {
  let next = 0;
  const numbered = expression.replaceAll(literal, () => `#${next++}`);
  return [...numbered.matchAll(/\bmatches\(\s*(?:#(\d+)\s*\))?/g)].map(([, index]) =>
    index === undefined ? undefined : literals[Number(index)]?.slice(1, -1),
  );
}

/** What RE2 and JavaScript read differently, or only one of them reads. */
function patternTroubles(pattern: string | undefined): string[] {
  if (pattern === undefined) return ['a regular expression has to be a literal'];
  const differs = [
    [/\(\?/, 'groups with (? differ between RE2 and JavaScript'],
    [/\[\[:/, 'character classes by name are only in RE2'],
    [/\\/, 'escapes differ between RE2 and JavaScript; use [.] for a dot'],
    [/\{/, 'counted repetition is limited in RE2, and counts other things in JavaScript'],
    [/(^|[^[\w])\.(?![^[]*\])/, 'a bare dot matches other things in RE2 and JavaScript'],
  ] as const;
  return differs.filter(([trap]) => trap.test(pattern)).map(([, because]) => because);
}

function literalTroubles(text: string): string[] {
  const troubles = [];
  // oxlint-disable-next-line no-control-regex -- what is not printable ASCII is what is looked for
  if (/[^\x20-\x7e]/.test(text)) troubles.push('a string is not printable ASCII');
  if (/\\[^\\'"]/.test(text)) troubles.push(`escapes in ${text} are read differently`);
  return troubles;
}
