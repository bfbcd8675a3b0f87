/** How the API server is reached and as whom; the client knows nothing else of either. */

/** What TLS needs; the same object is handed out as long as nothing in it has changed. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Connection {
  /** `https://10.0.0.1:443`; a path after the host, as proxies for many clusters have, is kept. */
  readonly server: string;
  /** Where our credentials live: in a Pod its own namespace, else that of the kubeconfig's context. */
  readonly namespace: string | undefined;
  /** Read anew now and then; another object means that certificates have changed. */
  tls(): Promise<TlsOptions>;
  /** Who we are. @param options.fresh after a 401: what is cached is no longer good */
  headers(options?: { fresh?: boolean }): Promise<Record<string, string>>;
}

/** The credentials or the address of the API server cannot be read; the message says where and what to do. */
export class ConnectionSetupError extends Error {
  override readonly name = 'ConnectionSetupError';
}
