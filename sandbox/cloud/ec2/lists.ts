/**
 * What all Describe calls share: filters and pages.
 * Source: EC2 API reference, "List and filter using the CLI and API" and "Pagination".
 */
import { CloudError } from '../wire/service.ts';
import type { Parameters } from './parameters.ts';

export type Tags = Readonly<Record<string, string>>;

/** Values of a thing by filter name; several for what is a list. */
export type Facts = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The things that every filter of the request lets through; a filter's values are alternatives and may hold `*`
 * and `?`. `tag:<key>` and `tag-key` work for all. Throws InvalidParameterValue for a filter that is not known.
 */
export function filtered<T>(
  things: readonly T[],
  parameters: Parameters,
  factsOf: (thing: T) => Facts,
  tagsOf: (thing: T) => Tags = () => ({}),
): T[] {
  const filters = parameters.structures('Filter').map((filter) => ({
    name: filter.required('Name'),
    patterns: filter.list('Value').map(wildcard),
  }));
  return things.filter((thing) =>
    filters.every(({ name, patterns }) => {
      const values = valuesOf(name, factsOf(thing), tagsOf(thing));
      return values.some((value) => patterns.some((pattern) => pattern.test(value)));
    }),
  );
}

function valuesOf(name: string, facts: Facts, tags: Tags): readonly string[] {
  if (name === 'tag-key') return Object.keys(tags);
  if (name.startsWith('tag:')) {
    const value = tags[name.slice('tag:'.length)];
    return value === undefined ? [] : [value];
  }
  if (!Object.hasOwn(facts, name)) {
    throw new CloudError('InvalidParameterValue', `The filter '${name}' is invalid`);
  }
  const values = facts[name];
  return typeof values === 'string' ? [values] : (values ?? []);
}

function wildcard(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[\\^$.|+()[\]{}]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}

/** One page by MaxResults and NextToken; without MaxResults everything, as EC2 does up to its own limits. */
export function page<T>(
  things: readonly T[],
  parameters: Parameters,
  limits: { least: number; most: number },
): { page: readonly T[]; nextToken: string | undefined } {
  const size = parameters.count('MaxResults', limits.least, limits.most) ?? limits.most;
  const start = offsetOf(parameters.text('NextToken'));
  const end = start + size;
  return {
    page: things.slice(start, end),
    nextToken: end < things.length ? tokenOf(end) : undefined,
  };
}

const tokenOf = (offset: number): string => Buffer.from(`from:${offset}`).toString('base64');

function offsetOf(token: string | undefined): number {
  if (token === undefined) return 0;
  const offset = /^from:(\d+)$/.exec(Buffer.from(token, 'base64').toString())?.[1];
  if (offset !== undefined) return Number(offset);
  throw new CloudError('InvalidNextToken', 'The token for NextToken is invalid');
}

/** `{Key, Value}` pairs of a request as a record; throws for what EC2 does not take as a tag. */
export function readTags(pairs: readonly Parameters[]): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const pair of pairs) {
    const key = pair.required('Key');
    const value = pair.text('Value') ?? '';
    refuseTag(key, value, tags);
    tags[key] = value;
  }
  if (Object.keys(tags).length > 50) {
    throw new CloudError('TagLimitExceeded', 'More than 50 tags specified');
  }
  return tags;
}

function refuseTag(key: string, value: string, others: Tags): void {
  const invalid = (message: string): CloudError => new CloudError('InvalidParameterValue', message);
  if (key.startsWith('aws:'))
    throw invalid(`Tag keys starting with 'aws:' are reserved for internal use`);
  if (key.length > 128) throw invalid(`Tag key exceeds the maximum length of 128 characters`);
  if (value.length > 256) throw invalid(`Tag value exceeds the maximum length of 256 characters`);
  if (Object.hasOwn(others, key)) throw invalid(`Duplicate tag key '${key}' specified.`);
}

export function tagSet(tags: Tags): { item: { key: string; value: string }[] } {
  return { item: Object.entries(tags).map(([key, value]) => ({ key, value })) };
}
