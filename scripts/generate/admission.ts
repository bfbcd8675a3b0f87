import { violations } from '#schemas/rules/evaluate.ts';
import { isInCrd, tableTroubles } from '#schemas/rules/lint.ts';
import { placesAt } from '#schemas/rules/places.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import { comparesWithOld, resourcesOf, type Rule } from '#schemas/rules/rule.ts';
import { rules as table } from '#schemas/rules/table.ts';

import type { Generated } from './files.ts';

/** The table, and the one that stands beside it. */
const rules = [...table, labelRule];

/**
 * docs/reference/admission.md: what is judged when an object is written, and why.
 *
 * @throws when the table has troubles: then nothing at all is generated
 */
export function admissionFiles(): Generated[] {
  const troubles = tableTroubles(rules);
  if (troubles.length > 0) throw new Error(`schemas/rules:\n${troubles.join('\n')}`);
  const kinds = [...new Set(rules.map(({ target }) => target.kind))];
  const text = `# Admission

<!-- Made by \`npm run generate\` from schemas/rules/; do not edit. -->

${introduction()}

${kinds.map(overview).join('\n')}
${kinds.map(chapter).join('\n')}`;
  return [{ path: 'docs/reference/admission.md', text }];
}

function introduction(): string {
  const denied = rules.filter(({ severity }) => severity === 'deny').length;
  return `${rules.length} rules: ${denied} refuse what can never work, ${rules.length - denied} warn and let pass. Each is one expression that
the CRD, the policies of the API server and the webhook all evaluate; the controller holds to the refusals once more,
for what came in while none of them was there.

- **Whose objects.** NodePools and NodeClaims whose \`nodeClassRef\` is of the group karpenter.unikraft.com; Pods that are
  aimed at Unikraft nodes by the selector \`unikraft.com/virtual-kubelet: "true"\`, by the toleration
  \`virtual-kubelet.io/provider=ukc\` or by the label \`karpenter.unikraft.com/inject: "true"\`; every UnikraftNodeClass.
  Objects of other providers are never judged. Of other Pods only that label is looked at: a value that counts for
  nothing is warned of.
- **When.** An update is judged only when it changes the spec: labels, annotations and finalizers of an object that is bad
  already can always be written. A deletion is never judged.
- **Where.** Refusals of node classes stand in the CRD and hold without anything else; those of the other kinds, and all
  warnings, hold where the policies or the webhook are installed.
- **What is read.** \`self\` in a rule is the value at its place, \`oldSelf\` what stood there before. A place that is absent is
  not judged.`;
}

function overview(kind: string): string {
  const rows = ofKind(kind).map(
    ({ name, code, severity, path }) =>
      `| [${name}](#${name}) | ${severity === 'deny' ? 'refused' : 'warned'} | [${code}](codes.md) | \`${path}\` |`,
  );
  return `${kind}:\n\n| rule | | code | place |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function chapter(kind: string): string {
  return `## ${kind}\n\n${ofKind(kind).map(entry).join('\n')}`;
}

function ofKind(kind: string): Rule[] {
  return rules.filter(({ target }) => target.kind === kind);
}

function entry(rule: Rule): string {
  const { name, code, severity, path, message, fix, docs, cel } = rule;
  const verb = severity === 'deny' ? 'Refused' : 'Warned about';
  const layer = isInCrd(rule) ? ' by the CRD' : '';
  return `### ${name}

${verb}${layer} with [${code}](codes.md) on ${occasions(rule)}, at \`${path}\`:

> ${message} ${fix}

${docs}

\`\`\`
${cel}
\`\`\`

${examples(rule)}
`;
}

function occasions({ operations, ...rule }: Rule): string {
  const on = operations.join(' and ');
  const resources = resourcesOf(rule);
  return resources.join() === rule.target.plural ? on : `${on} of ${resources.join(' and ')}`;
}

/** What stands at the place in the first samples of both kinds; the samples themselves are whole objects. */
function examples(rule: Rule): string {
  const { accepts, rejects } = rule;
  const counts = `Samples: ${accepts.length} accepted, ${rejects.length} rejected.`;
  if (comparesWithOld(rule)) return counts;
  const bad = rejects.flatMap((sample) => brokenPlaces(rule, sample)).map(inShort)[0];
  const good = accepts
    .flatMap((sample) => placesAt(sample, rule.path))
    .map(({ value }) => inShort(value));
  const best = good.toSorted((a, b) => b.length - a.length)[0];
  const lines = [
    ...(bad === undefined ? [] : [`- rejected: \`${bad}\``]),
    ...(best === undefined || best === bad ? [] : [`- accepted: \`${best}\``]),
  ];
  return [counts, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n');
}

function brokenPlaces(rule: Rule, sample: Rule['rejects'][number]): unknown[] {
  const [, subResource] = resourcesOf(rule)[0]?.split('/') ?? [];
  const [operation = ''] = rule.operations;
  const broken = violations(sample, { operation, subResource });
  const paths = new Set(broken.filter((one) => one.rule === rule.name).map(({ path }) => path));
  return placesAt(sample, rule.path)
    .filter(({ path }) => paths.has(path))
    .map(({ value }) => value);
}

function inShort(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

const longest = 160;
