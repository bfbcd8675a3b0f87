import { certificateName } from '#machine/certificate/cert-manager.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { uniqueOf } from '#schemas/machine-name.ts';
import { labels } from '#schemas/names.ts';

/** The name of the Secret with a machine's credentials. */
export const credentialsName = (machine: string): string => `${machine}-credentials`;

/**
 * Whether an object is a Secret that the operator, or cert-manager for it, keeps for a machine, and no part of its
 * Kraftlet release. Both are labelled alike, and where Kraftlet is put into the operator's own namespace only their
 * names tell them apart: these go last, and the release goes first.
 *
 * @param namespace  the operator's own
 */
export function isOwnSecret({ kind, metadata = {} }: KubeObject, namespace: string): boolean {
  const { name = '', namespace: where, labels: own = {} } = metadata;
  if (kind !== secrets.kind || where !== namespace) return false;
  const end = `-${uniqueOf(own[labels.claimUid] ?? '')}`;
  return [credentialsName, certificateName].some((nameOf) => name.endsWith(nameOf(end)));
}
