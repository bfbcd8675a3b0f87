import { tags } from '#schemas/names.ts';

import type { MachineIdentity } from '../../machine.ts';
import type { GceInstance, KeyValue } from './resources.ts';

/**
 * What an instance carries of its claim. Labels are for finding it: their keys and values are letters of lower case,
 * digits, `_` and `-`, 63 at most, so that names are respelled and cut. Metadata holds the same as it is.
 *
 * Source: Compute Engine docs, "Organize resources using labels", requirements for labels.
 */
export const labelOf = {
  cluster: labelKey(tags.cluster),
  claimUid: labelKey(tags.claimUid),
  claim: labelKey(tags.claim),
  nodePool: labelKey(tags.nodePool),
  nodeClass: labelKey(tags.nodeClass),
} as const;

/** Metadata keys beside those of the names. */
const userDataKey = 'user-data';
const imageKey = 'karpenter-unikraft-image';

/** Names that belong to somebody else in a project cannot be deleted by a role that is bound to this prefix. */
const prefix = 'uk-';

/** Name of the instance, and of its boot disk. It is unique only within a zone. */
export function instanceName({ name }: Pick<MachineIdentity, 'name'>): string {
  return `${prefix}${name}`;
}

/** Ours come last and win: a label of a user's that replaced one would hide the machine from us for ever. */
export function labelsFor(
  identity: MachineIdentity,
  users: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = Object.entries(namesOf(identity)).map(([key, value]) => [key, labelValue(value)]);
  const all = {
    ...users,
    ...(Object.fromEntries(names) as Record<string, string>),
    ...ownersOf(identity),
  };
  return sorted(all);
}

/** Those that an instance has to carry, whatever else it does. */
export function ownLabels(identity: MachineIdentity): Record<string, string> {
  return labelsFor(identity, {});
}

export function metadataFor(
  identity: MachineIdentity,
  userData: string,
  image: string,
): KeyValue[] {
  const all = {
    ...namesOf(identity),
    ...ownersOf(identity),
    [imageKey]: image,
    [userDataKey]: userData,
  };
  return Object.entries(sorted(all)).map(([key, value]) => ({ key, value }));
}

/** The tags that the rest of the program knows instances by. */
export function tagsOf({ name = '', labels = {}, metadata }: GceInstance): Record<string, string> {
  const exact = new Map((metadata?.items ?? []).map(({ key, value }) => [key, value]));
  const ours = Object.entries(labelOf).flatMap(([field, key]) => {
    const value = exact.get(key) ?? labels[key];
    return value === undefined ? [] : [[tags[field as keyof typeof labelOf], value]];
  });
  return { ...labels, ...(Object.fromEntries(ours) as Record<string, string>), [tags.name]: name };
}

export function imageOf({ metadata }: GceInstance): string {
  return metadata?.items?.find(({ key }) => key === imageKey)?.value ?? '';
}

/** Whose it is. A label can be lost; then the metadata still says it. */
function ownersOf({ clusterUid, claimUid }: MachineIdentity): Record<string, string> {
  return { [labelOf.cluster]: clusterUid, [labelOf.claimUid]: claimUid };
}

function namesOf({ claim, nodePool, nodeClass }: MachineIdentity): Record<string, string> {
  return {
    [labelOf.claim]: claim,
    ...(nodePool === undefined ? {} : { [labelOf.nodePool]: nodePool }),
    [labelOf.nodeClass]: nodeClass,
  };
}

/** `karpenter.sh/nodepool` → `karpenter-sh-nodepool` */
function labelKey(tag: string): string {
  return tag.toLowerCase().replace(/[./]/g, '-');
}

function labelValue(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .slice(0, 63);
}

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
