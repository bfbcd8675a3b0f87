import { stringify } from 'yaml';

const note = '# Made by `npm run generate` from schemas/; do not edit.\n';

/**
 * YAML of one or more objects. Long lines stay whole, so that a changed word is a changed line; anchors would hide what
 * a field says.
 */
export function asDocuments(...objects: readonly object[]): string {
  return (
    note +
    objects
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
      .join('---\n')
  );
}
