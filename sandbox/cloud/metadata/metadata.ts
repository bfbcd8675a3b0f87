import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { awsPayload, googlePayload, type TokenIssuer } from '#machine/testing/token-issuer.ts';
import { hours } from '#schemas/time/clock.ts';

/** Whom an address is of, and which identity it was launched with. */
export type Resident =
  | {
      readonly cloud: 'aws';
      readonly account: string;
      readonly region: string;
      readonly instance: string;
      readonly profile: string | undefined;
    }
  | {
      readonly cloud: 'gcp';
      readonly project: string;
      readonly zone: string;
      readonly instance: string;
      readonly serviceAccount: string | undefined;
    };

type Aws = Extract<Resident, { cloud: 'aws' }>;

export interface MetadataParts {
  readonly whoIs: (address: string) => Resident | undefined;
  readonly google: TokenIssuer;
  readonly aws: TokenIssuer;
}

interface Page {
  readonly status: number;
  readonly body: string;
}

const absent: Page = { status: 404, body: 'Not Found' };
const sessionToken = 'sandbox-metadata-token';

/**
 * The metadata servers of both clouds at one port of loopback. As at 169.254.169.254, who asks is known by the address
 * that he asks from, and by nothing that he says.
 *
 * Sources: EC2 User Guide, IMDSv2 and role credentials; Google Cloud, identity tokens of instances.
 */
export class MetadataServer {
  readonly #parts: MetadataParts;
  readonly #server: Server;

  constructor(parts: MetadataParts) {
    this.#parts = parts;
    this.#server = createServer((request, response) => {
      const { status, body } = this.#answer(request);
      response.writeHead(status, { 'metadata-flavor': 'Google' }).end(body);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** AWS's word on the instance whose role signs with this access key; undefined when none does. */
  webIdentity(accessKey: string, audience: string): string | undefined {
    const resident = this.#parts.whoIs(addressIn(accessKey));
    if (resident?.cloud !== 'aws' || resident.profile === undefined) return undefined;
    const { aws } = this.#parts;
    return aws.sign(awsPayload(aws.url, audience, resident));
  }

  #answer(request: IncomingMessage): Page {
    const address = request.socket.remoteAddress ?? '';
    const resident = this.#parts.whoIs(address);
    if (!resident) return absent;
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    return resident.cloud === 'aws'
      ? ofAws(request, url.pathname, { ...resident, address })
      : this.#ofGoogle(request, url, resident);
  }

  #ofGoogle(
    { headers }: IncomingMessage,
    { pathname, searchParams }: URL,
    resident: Extract<Resident, { cloud: 'gcp' }>,
  ): Page {
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, body: 'Forbidden' };
    const path = '/computeMetadata/v1/instance/service-accounts/default/identity';
    const audience = searchParams.get('audience');
    if (pathname !== path || resident.serviceAccount === undefined) return absent;
    if (audience === null) return { status: 400, body: 'non-empty audience parameter required' };
    const whole = googlePayload(audience, resident);
    const isFull = searchParams.get('format') === 'full';
    const body = this.#parts.google.sign(isFull ? whole : { ...whole, google: undefined });
    return { status: 200, body };
  }
}

/** IMDSv2: a session first, then what there is to know. */
function ofAws(
  { method, headers }: IncomingMessage,
  path: string,
  { profile, region, address }: Aws & { readonly address: string },
): Page {
  if (path === '/latest/api/token') {
    return method === 'PUT' ? { status: 200, body: sessionToken } : { status: 405, body: '' };
  }
  if (headers['x-aws-ec2-metadata-token'] !== sessionToken) return { status: 401, body: '' };
  const roles = '/latest/meta-data/iam/security-credentials/';
  if (path === '/latest/meta-data/placement/region') return { status: 200, body: region };
  if (profile === undefined) return absent;
  if (path === roles) return { status: 200, body: profile };
  if (path !== `${roles}${profile}`) return absent;
  const credentials = {
    Code: 'Success',
    Type: 'AWS-HMAC',
    AccessKeyId: `instance:${address}`,
    SecretAccessKey: 'sandbox-instance-secret-key',
    Token: 'sandbox-instance-session-token',
    Expiration: new Date(Date.now() + hours(6)).toISOString(),
  };
  return { status: 200, body: JSON.stringify(credentials) };
}

function addressIn(accessKey: string): string {
  return accessKey.replace(/^instance:/, '');
}
