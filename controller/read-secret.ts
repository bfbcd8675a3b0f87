import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets, type Key } from '#schemas/kubernetes/resource.ts';

/** A Secret from the API server, since Secrets are not watched; undefined when there is none. */
export async function readSecret(client: KubeClient, key: Key): Promise<Live<Secret> | undefined> {
  try {
    return await client.get(secrets, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * A Secret that each of several processes would make with a value of its own: that of the first one holds.
 *
 * @param key where it is to be
 * @returns what is there now, made here or by another
 */
export async function makeOnce(
  client: KubeClient,
  key: Key,
  { metadata, ...secret }: Omit<Secret, 'metadata'> & { metadata?: Partial<Secret['metadata']> },
): Promise<Live<Secret>> {
  try {
    return await client.create(secrets, { ...secret, metadata: { ...metadata, ...key } });
  } catch (error) {
    const there = isAlreadyExists(error) ? await readSecret(client, key) : undefined;
    if (!there) throw error;
    return there;
  }
}

/** What stands under a key of its data; empty when nothing does. */
export function textIn(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
}
