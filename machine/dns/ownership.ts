import type { RecordOwner } from './provider.ts';

const heritage = 'karpenter-unikraft';

/**
 * Where the ownership of `name` is written: a name of its own beside it, since a TXT at a wildcard would answer for
 * every name below. A wildcard's label is spelled out for the same reason.
 */
export function ownershipName(name: string): string {
  return `_kpu.${name.replace(/^\*\./, '_wildcard.')}`;
}

/** The name whose ownership is written at `marker`; undefined when none is written there. */
export function ownedNameOf(marker: string): string | undefined {
  if (!marker.startsWith('_kpu.')) return undefined;
  return marker.slice('_kpu.'.length).replace(/^_wildcard\./, '*.');
}

/** `heritage=karpenter-unikraft,owner=<cluster UID>,nodeclaim=<claim UID>`, in the form that external-dns made known. */
export function ownershipText({ clusterUid, claimUid }: RecordOwner): string {
  return `heritage=${heritage},owner=${clusterUid},nodeclaim=${claimUid}`;
}

/** Whose a TXT is; undefined when it is not of our kind. */
export function ownerIn(text: string): RecordOwner | undefined {
  const parts = new Map(
    text.split(',').map((part) => [part.split('=', 1)[0] ?? '', part.slice(part.indexOf('=') + 1)]),
  );
  const [clusterUid, claimUid] = [parts.get('owner'), parts.get('nodeclaim')];
  if (parts.get('heritage') !== heritage || !clusterUid || !claimUid) return undefined;
  return { clusterUid, claimUid };
}
