import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';

import { type Duration, seconds } from '#schemas/time/clock.ts';

import type { PlatformEndpoint } from '../machine.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An answer of the platform's API is a few kilobytes; more comes from something else. */
const maxBytes = 1 << 20;

/**
 * One GET to a machine: connected by address, so that no resolver stands between, and believed by name, so that an
 * address which was given to another machine in the meantime is found out. Only the endpoint's own CA is trusted; an
 * endpoint without one is believed whoever answers, which is what certificate mode None means. Any authority of that CA ends the chain, whether or not it signed
 * itself, as Kraftlet judges it: an issuer within a cluster is often one that another authority signed.
 *
 * Each call has its own connection: calls to one machine are seconds apart, and machines come and go.
 */
export async function get(
  endpoint: PlatformEndpoint,
  path: string,
  signal: AbortSignal,
  timeout: Duration = seconds(5),
): Promise<Answer> {
  const response = await send(
    {
      host: endpoint.address,
      port: endpoint.port,
      path,
      servername: endpoint.fqdn,
      ...(endpoint.ca === undefined
        ? { rejectUnauthorized: false }
        : { ca: endpoint.ca, allowPartialTrustChain: true }),
      agent: false,
      headers: {
        host: endpoint.port === 443 ? endpoint.fqdn : `${endpoint.fqdn}:${endpoint.port}`,
        authorization: `Bearer ${endpoint.token}`,
        accept: 'application/json',
        'user-agent': 'karpenter-provider-unikraft',
      },
    },
    AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  );
  return { status: response.statusCode ?? 0, body: await text(limited(response)) };
}

async function send(options: RequestOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ ...options, signal }, resolve)
    .on('error', reject)
    .end();
  return promise;
}

async function* limited(response: IncomingMessage): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    yield chunk;
  }
}
