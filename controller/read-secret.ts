import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
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

/** What stands under a key of its data; empty when nothing does. */
export function textIn(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
}
