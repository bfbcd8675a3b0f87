import type { Connection } from '#kube/client/connection.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';

/** Who writes for the world itself, in managedFields: never to be taken for the operator. */
export const SANDBOX_MANAGER = 'sandbox';

export interface TokenConnection {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  /** PEM. */
  readonly caPem: string;
  readonly token: string;
}

/** A way to the API server by a token that does not change. */
export function tokenConnection({ server, caPem, token }: TokenConnection): Connection {
  const tls = { ca: caPem };
  return {
    server,
    namespace: undefined,
    tls: async () => tls,
    headers: async () => ({ authorization: `Bearer ${token}` }),
  };
}

export function tokenClient(connection: TokenConnection): UndiciKubeClient {
  return new UndiciKubeClient(tokenConnection(connection), {
    fieldManager: SANDBOX_MANAGER,
    userAgent: SANDBOX_MANAGER,
  });
}
