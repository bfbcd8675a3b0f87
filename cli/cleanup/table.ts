import type { Leftover } from './place.ts';

const none = '<none>';

/** Rows as lines, each column as wide as its longest text, three blanks apart as kubectl has it. */
function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

/** One table for each kind of thing, as `kubectl get` prints several kinds. */
export function tables(left: readonly Leftover[]): string {
  const kinds = [...new Set(left.map(({ kind }) => kind))];
  return kinds
    .map((kind) => {
      const things = left.filter((one) => one.kind === kind);
      const columns = [...new Set(things.flatMap(({ facts }) => Object.keys(facts)))];
      const head = [kind, ...columns].map((text) => text.toUpperCase());
      const rows = things.map(({ id, facts }) => [id, ...columns.map((one) => facts[one] || none)]);
      return table([head, ...rows]);
    })
    .join('\n\n');
}
