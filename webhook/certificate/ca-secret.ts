import type { KubeClient } from '#kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '#kube/client/errors.ts';
import { Authority } from '#pki/authority.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import { secrets, type Key } from '#schemas/kubernetes/resource.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

const name = 'karpenter-unikraft-webhook-ca';
const tenYears = hours(24 * 3650);

/**
 * The authority behind the webhook's certificates, shared by all replicas through one Secret. The first replica makes
 * it; the others, and those that lose the race, read it.
 *
 * @throws InvalidCertificate when the Secret holds anything else; deleting it makes a new one at the next start
 */
export async function sharedAuthority(
  client: KubeClient,
  namespace: string,
  clock: Clock,
): Promise<Authority> {
  const key = { namespace, name };
  const present = await client.get(secrets, key).catch(absent);
  if (present) return authorityIn(present, clock);
  const made = await Authority.create(clock, {
    commonName: 'karpenter-unikraft-webhook',
    validity: tenYears,
  });
  try {
    await client.create(secrets, secretOf(key, made));
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return authorityIn(await client.get(secrets, key), clock);
  }
}

function authorityIn({ data = {} }: Secret, clock: Clock): Authority {
  const read = (file: string): string => Buffer.from(data[file] ?? '', 'base64').toString('utf8');
  return Authority.load({ certificate: read('tls.crt'), privateKey: read('tls.key') }, clock);
}

function secretOf(key: Key, { pem }: Authority): Secret {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels: { 'app.kubernetes.io/part-of': 'karpenter-provider-unikraft' } },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': encode(pem.certificate), 'tls.key': encode(pem.privateKey) },
  };
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
