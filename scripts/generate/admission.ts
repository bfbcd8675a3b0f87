import type { Rule } from '#schemas/rules/rule.ts';
import { rules } from '#schemas/rules/table.ts';

import type { Generated } from './files.ts';

/** docs/reference/admission.md: what is judged when an object is written, and why. */
export function admissionFiles(): Generated[] {
  const kinds = [...new Set(rules.map(({ target }) => target.kind))];
  const text = `# Admission

<!-- Made by \`npm run generate\` from schemas/rules/; do not edit. -->

Objects are judged only when they are for a UnikraftNodeClass: by the group and kind of their \`nodeClassRef\`. An update
is judged only when it changes the spec, and a deletion never. \`self\` in a rule is the value at its place; a place that
is absent is not judged.

${kinds.map(chapter).join('\n')}`;
  return [{ path: 'docs/reference/admission.md', text }];
}

function chapter(kind: string): string {
  const own = rules.filter(({ target }) => target.kind === kind);
  return `## ${kind}\n\n${own.map(entry).join('\n')}`;
}

function entry({ name, code, severity, operations, path, message, fix, docs, cel }: Rule): string {
  const verb = severity === 'deny' ? 'Refused' : 'Warned about';
  return `### ${name}

${verb} with [${code}](codes.md) on ${operations.join(' and ')}, at \`${path}\`:

> ${message} ${fix}

${docs}

\`\`\`
${cel}
\`\`\`
`;
}
