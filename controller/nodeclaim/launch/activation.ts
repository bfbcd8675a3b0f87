import type { KubeClient } from '#kube/client/client.ts';
import { NodeClassError } from '#machine/errors.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { readSecret, textIn } from '../../read-secret.ts';

/**
 * What activates the platform of a machine's class; undefined when the class names nothing.
 *
 * @throws NodeClassError when the Secret that is named holds none
 */
export async function activationOf(
  { client, namespace }: { client: KubeClient; namespace: string },
  { spec }: ResolvedNodeClass,
): Promise<string | undefined> {
  const ref = spec.platform?.activationSecretRef;
  if (!ref) return undefined;
  const { name, key = 'token' } = ref;
  const secret = await readSecret(client, { namespace, name });
  const text = secret ? textIn(secret, key) : '';
  if (text !== '') return text;
  throw new NodeClassError(
    { code: 'KPU211', condition: 'CredentialsReady', reason: 'ActivationSecretInvalid' },
    `Secret ${namespace}/${name} has no "${key}" to activate the platform with`,
  );
}
