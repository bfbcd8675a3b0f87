import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { KubeClient } from '#kube/client/client.ts';
import { serviceAccounts, type Key } from '#schemas/kubernetes/resource.ts';
import { hours } from '#schemas/time/clock.ts';

export interface TokenRequest {
  /** Milliseconds; default a day, which outlives any world, so that nobody need renew it. */
  readonly expires?: number;
  readonly audiences?: readonly string[];
  /** The Pod that the token dies with. */
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** A token of a ServiceAccount by the TokenRequest API. @throws ApiError when there is no such ServiceAccount */
export async function requestToken(
  client: KubeClient,
  account: Key,
  { expires = hours(24), audiences, pod }: TokenRequest = {},
): Promise<string> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: audiences ?? [],
      expirationSeconds: expires / 1000,
      ...(pod ? { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...pod } } : {}),
    },
  };
  const answer = await client.createSubresource(serviceAccounts, account, 'token', body);
  const token = (answer as { status?: { token?: string } }).status?.token;
  if (!token) throw new Error(`TokenRequest for ${account.namespace}/${account.name}: no token`);
  return token;
}

/** Writes the three files that a Pod finds under /var/run/secrets/kubernetes.io/serviceaccount. */
export async function writeServiceAccountFiles(
  folder: string,
  files: { token: string; caPem: string; namespace: string },
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await Promise.all([
    writeFile(join(folder, 'token'), files.token, { mode: 0o600 }),
    writeFile(join(folder, 'ca.crt'), files.caPem),
    writeFile(join(folder, 'namespace'), files.namespace),
  ]);
}
