import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A stored thing with its media type; artifacts are named by their digest. */
interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.cncf.helm.config.v1+json',
  chart: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
  image: 'application/vnd.oci.image.config.v1+json',
};

/**
 * A registry of charts on loopback, as far as a pull goes: manifests by tag or digest, blobs by digest. TLS only, since
 * Helm takes no other without being told to.
 *
 * Source: OCI Distribution Specification 1.1; media types of Helm's documentation, "Use OCI-based registries".
 */
export class ChartRegistry {
  /** Charts arrive with a bit that is not theirs. */
  isAltering = false;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server: Server;
  /** By repository, then by tag or digest. */
  readonly #manifests = new Map<string, Map<string, Content>>();
  readonly #blobs = new Map<string, Content>();
  readonly #login: string | undefined;

  private constructor(
    pair: { certificate: string; privateKey: string },
    login: string | undefined,
  ) {
    this.#login = login && `Basic ${Buffer.from(login).toString('base64')}`;
    const { certificate: cert, privateKey: key } = pair;
    this.#server = createServer({ cert, key }, (request, response) =>
      this.#serve(request, response),
    );
  }

  /**
   * @param pair  a certificate for `localhost`
   * @param login  `user:password`; absent: anybody may read
   */
  static async start(
    pair: { certificate: string; privateKey: string },
    login?: string,
  ): Promise<ChartRegistry> {
    const registry = new ChartRegistry(pair, login);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    registry.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
    return registry;
  }

  /** `localhost:<port>` */
  get host(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As `helm push` leaves it. */
  push(repository: string, tag: string, archive: Buffer, of: 'chart' | 'image' = 'chart'): void {
    const config = this.#blob(of === 'chart' ? types.config : types.image, Buffer.from('{}'));
    const layer = this.#blob(types.chart, archive);
    const manifest = { schemaVersion: 2, mediaType: types.manifest, config, layers: [layer] };
    const bytes = Buffer.from(JSON.stringify(manifest));
    const known = this.#manifests.get(repository) ?? new Map<string, Content>();
    this.#manifests.set(repository, known);
    for (const name of [tag, digestOf(bytes)]) known.set(name, { type: types.manifest, bytes });
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #blob(mediaType: string, bytes: Buffer): { mediaType: string; digest: string; size: number } {
    const digest = digestOf(bytes);
    this.#blobs.set(digest, { type: mediaType, bytes });
    return { mediaType, digest, size: bytes.length };
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    this.asked.push(path);
    if (this.#login !== undefined && request.headers.authorization !== this.#login) {
      const challenge = { 'www-authenticate': 'Basic realm="registry"' };
      return void response.writeHead(401, challenge).end(errors('UNAUTHORIZED'));
    }
    const found = this.#find(path);
    if (!found) return void response.writeHead(404).end(errors('MANIFEST_UNKNOWN'));
    const { type, bytes } = found;
    const headers = {
      'content-type': type,
      'content-length': bytes.length,
      'docker-content-digest': digestOf(bytes),
    };
    response.writeHead(200, headers);
    response.end(request.method === 'HEAD' ? undefined : this.#sent(found));
  }

  #find(path: string): Content | undefined {
    const [, repository = '', kind, name = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    return kind === 'blobs' ? this.#blobs.get(name) : this.#manifests.get(repository)?.get(name);
  }

  /** One bit of a chart is another: its digest no longer fits. */
  #sent({ type, bytes }: Content): Buffer {
    if (!this.isAltering || type !== types.chart) return bytes;
    const altered = Buffer.from(bytes);
    altered[altered.length - 1] = altered[altered.length - 1]! ^ 1;
    return altered;
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function errors(code: string): string {
  return JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] });
}
