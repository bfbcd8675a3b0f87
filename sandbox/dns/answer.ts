/**
 * What an authoritative server says to a question. Pure.
 * Source: RFC 1034 §4.3.2 (algorithm), RFC 2308 (negative answers), RFC 4592 (wildcards).
 */
import type { Answer, Question } from 'dns-packet';

/** A record set as it is served: name in lower case without the final dot, `*` as it is. */
export interface ServedSet {
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
}

export interface ServedZone {
  /** Lower case, without the final dot. */
  readonly name: string;
  readonly sets: readonly ServedSet[];
}

export interface Reply {
  readonly code: 'NOERROR' | 'NXDOMAIN' | 'REFUSED';
  readonly answers: readonly Answer[];
  /** The zone's SOA, which says how long a "no" may be kept. */
  readonly authorities: readonly Answer[];
}

export function answer(question: Question, zones: readonly ServedZone[]): Reply {
  const name = question.name.toLowerCase().replace(/\.$/, '');
  const zone = zoneOf(name, zones);
  if (!zone) return { code: 'REFUSED', answers: [], authorities: [] };
  const sets = setsAt(name, zone);
  const found = sets.filter(({ type }) => type === question.type || type === 'CNAME');
  if (found.length > 0) {
    const answers = found.flatMap((set) => toAnswers(set, question.name));
    return { code: 'NOERROR', answers, authorities: [] };
  }
  const exists = sets.length > 0 || zone.sets.some((set) => set.name.endsWith(`.${name}`));
  return { code: exists ? 'NOERROR' : 'NXDOMAIN', answers: [], authorities: soaOf(zone) };
}

/** The longest zone that holds the name. */
function zoneOf(name: string, zones: readonly ServedZone[]): ServedZone | undefined {
  return zones
    .filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** What stands at a name, or else at the nearest wildcard above it. */
function setsAt(name: string, zone: ServedZone): readonly ServedSet[] {
  const at = (wanted: string): ServedSet[] => zone.sets.filter((set) => set.name === wanted);
  const exact = at(name);
  if (exact.length > 0 || name === zone.name) return exact;
  const labels = name.split('.');
  for (let cut = 1; labels.length - cut >= zone.name.split('.').length; cut++) {
    const parent = labels.slice(cut).join('.');
    const wild = at(`*.${parent}`);
    // a name that exists itself hides the wildcards above it
    if (wild.length > 0 || at(parent).length > 0) return wild;
  }
  return [];
}

function soaOf(zone: ServedZone): Answer[] {
  const soa = zone.sets.find((set) => set.name === zone.name && set.type === 'SOA');
  return soa ? toAnswers(soa, zone.name) : [];
}

function toAnswers({ type, ttl, values }: ServedSet, name: string): Answer[] {
  return values.map((value) => ({ type, name, ttl, data: dataOf(type, value) }) as Answer);
}

function dataOf(type: string, value: string): unknown {
  if (type === 'TXT') return stringsOf(value);
  if (type !== 'SOA') return value.replace(/\.$/, '');
  const [mname, rname, ...numbers] = value.split(' ');
  const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
  return { mname, rname, serial, refresh, retry, expire, minimum };
}

/** The character strings of a TXT value as a zone file has them: quoted, with `\` before `"` and `\`. */
function stringsOf(value: string): string[] {
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1'),
  );
}
