import { shownBy } from '../troubles/shown-by.ts';
import { troubles } from '../troubles/troubles.ts';
import type { Generated } from './files.ts';

/** docs/reference/cloud-troubles.md: what went wrong elsewhere, what happens here, and the tests that show it. */
export function cloudTroublesFiles(): Generated[] {
  const shown = shownBy();
  const lines = troubles.map(({ elsewhere, here }, index) => {
    const number = `T${index + 1}`;
    const links = (shown.get(number) ?? []).map(linkTo);
    return `| ${number} | ${elsewhere} | ${here} | ${links.join(', ') || 'not yet'} |`;
  });
  const text = `# Troubles with clouds
<!-- Made by \`npm run generate\` from scripts/troubles/ and the titles of tests; do not edit. -->
What has gone wrong between operators and clouds elsewhere, and what happens here. Titles of the tests that show it begin with
the number.

| | elsewhere | here | shown by |
|---|---|---|---|
${lines.join('\n')}
`;
  return [{ path: 'docs/reference/cloud-troubles.md', text }];
}

/** `sandbox/cloud/gce/care.test.ts` → `[gce/care](../../sandbox/cloud/gce/care.test.ts)` */
function linkTo(file: string): string {
  const name = file
    .replace(/\.test\.ts$/, '')
    .split('/')
    .slice(-2)
    .join('/');
  return `[${name}](../../${file})`;
}
