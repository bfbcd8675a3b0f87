import { codes, retired } from '#schemas/errors/codes.ts';
import type { Explanation } from '#schemas/errors/explanation.ts';

import type { Generated } from './files.ts';

/** The hundreds that have codes, and what they are about. */
const chapters: Readonly<Record<string, string>> = {
  KPU1: 'When an object is written',
  KPU2: 'The node class',
  KPU3: 'Provisioning and machines',
  KPU4: 'Disruption',
  KPU6: 'The command line',
};

/** docs/reference/codes.md: every code with what happens next and the way out. */
export function codesFiles(): Generated[] {
  const text = `# Codes

<!-- Made by \`npm run generate\` from schemas/errors/; do not edit. -->

Every error and warning ends with one of these codes, whether it is a refusal, a condition, an event or a line of the
log. A code keeps its meaning for ever; one that is no longer given is not used again.

${Object.entries(chapters).map(chapter).join('\n')}
## Retired

${retiredList()}
`;
  return [{ path: 'docs/reference/codes.md', text }];
}

function chapter([prefix, title]: [string, string]): string {
  const explained: [string, Explanation][] = Object.entries(codes);
  const entries = explained
    .filter(([code]) => code.startsWith(prefix))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `## ${title}\n\n${entries.map(entry).join('\n')}`;
}

function entry([code, { title, happens, fix }]: [string, Explanation]): string {
  return `### ${code}: ${title}\n\n${happens}\n\nWhat to do: ${fix}\n`;
}

function retiredList(): string {
  const entries = Object.entries(retired);
  if (entries.length === 0) return 'None so far.';
  return entries.map(([code, meaning]) => `- ${code}: ${meaning}`).join('\n');
}
