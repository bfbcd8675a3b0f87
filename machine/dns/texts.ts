import { DnsConflict } from '../errors.ts';
import type { Change, RecordSet, ZoneView } from './changes.ts';

/** Seconds; a text that proves something is read once, soon. */
const textTtl = 60;

/** One text at a name that others may have texts at too: to be there, or not. */
export interface TextWish {
  readonly name: string;
  readonly text: string;
  readonly isThere: boolean;
}

/**
 * The changes that make wishes about the texts of one name true, the later one where two are about the same text; none
 * when they are already. Texts of others stay as they are: all services change the texts of a name as a whole, so what
 * is there is deleted as it reads and made again with them, in one atomic change.
 *
 * @throws DnsConflict where the name leads elsewhere: beside a CNAME nothing can stand, and some servers say nothing then
 */
export function textChanges(wishes: readonly TextWish[], view: ZoneView): Change[] {
  const [first] = wishes;
  if (!first) return [];
  const { name } = first;
  const present = view.get(name) ?? [];
  const set = present.find(({ type }) => type === 'TXT');
  const values = wishes.reduce<ReadonlySet<string>>(wished, new Set(set?.values));
  if (isSame(values, set)) return [];
  const alias = present.find(({ type }) => type === 'CNAME');
  if (alias) {
    const target = alias.values.join(' ');
    throw new DnsConflict(`${name} is a CNAME to ${target}, so no text can be put there.`);
  }
  const wanted: RecordSet = { name, type: 'TXT', ttl: set?.ttl ?? textTtl, values: [...values] };
  return [
    ...(set ? [{ action: 'delete' as const, set }] : []),
    ...(values.size > 0 ? [{ action: 'create' as const, set: wanted }] : []),
  ];
}

function wished(values: ReadonlySet<string>, { text, isThere }: TextWish): ReadonlySet<string> {
  const value = `"${text}"`;
  return new Set([...values].filter((one) => one !== value).concat(isThere ? [value] : []));
}

function isSame(values: ReadonlySet<string>, set: RecordSet | undefined): boolean {
  return (
    values.size === (set?.values.length ?? 0) && (set?.values ?? []).every((one) => values.has(one))
  );
}
