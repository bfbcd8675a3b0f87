import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as send } from 'node:https';
import { text } from 'node:stream/consumers';

import { Agent, request } from 'undici';

import { newRequest } from '#pki/testing/requests.ts';
import { milliseconds, type Clock } from '#schemas/time/clock.ts';

import { BadUserData, readSecrets, type CallbackSettings, type ToldSecrets } from './user-data.ts';

/** Where a machine finds its cloud. Real ones find it at fixed addresses. */
export interface Surroundings {
  readonly metadata: string;
  readonly sts: string;
}

export interface Caller {
  /** The machine's own: by it the cloud knows who asks. */
  readonly address: string;
  readonly surroundings: Surroundings;
  readonly clock: Clock;
}

const pause = milliseconds(500);

/**
 * What an image does with user data that tells it to call: it makes a key, asks its cloud who it is, shows both with its
 * token, and has the rest. Whoever cannot answer yet is asked again; a refusal is final.
 *
 * @throws BadUserData with what the operator said
 */
export async function callForSecrets(
  settings: CallbackSettings,
  caller: Caller,
  signal: AbortSignal,
): Promise<ToldSecrets> {
  const { request: wanted, keys } = await newRequest();
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${Buffer.from(pkcs8).toString('base64')}\n-----END PRIVATE KEY-----\n`;
  while (!signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    const answer = await tryOnce(settings, wanted, caller).catch(() => undefined);
    if (answer?.status === 200) return readSecrets(answer.body, privateKey);
    if (answer && answer.status < 500) {
      throw new BadUserData(`the operator answered ${answer.status}: ${answer.body}`);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await caller.clock.sleep(pause, signal).catch(() => {});
  }
  throw new BadUserData('the machine was switched off before it had its secrets');
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function tryOnce(
  settings: CallbackSettings,
  wanted: string,
  caller: Caller,
): Promise<Answer> {
  const { url, token, ca } = settings;
  const identity = await identityOf(settings, caller);
  const headers = { 'content-type': 'application/json' };
  const sent = send(url, { method: 'POST', ca, headers, agent: false, family: 4 });
  sent.end(JSON.stringify({ token, request: wanted, identity }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

async function identityOf(
  { audience, cloud }: CallbackSettings,
  { address, surroundings }: Caller,
): Promise<string> {
  const dispatcher = new Agent({ localAddress: address });
  const ask = async (path: string, headers: Record<string, string>, method: 'GET' | 'PUT') => {
    const answer = await request(`${surroundings.metadata}${path}`, {
      dispatcher,
      headers,
      method,
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new BadUserData(`${path}: ${answer.statusCode} ${body}`);
    return body;
  };
  try {
    return cloud === 'gcp'
      ? await onGoogle(ask, audience)
      : await onAws(ask, audience, surroundings.sts);
  } finally {
    await dispatcher.close();
  }
}

type Ask = (
  path: string,
  headers: Record<string, string>,
  method: 'GET' | 'PUT',
) => Promise<string>;

async function onGoogle(ask: Ask, audience: string): Promise<string> {
  const query = new URLSearchParams({ audience, format: 'full' });
  const path = `/computeMetadata/v1/instance/service-accounts/default/identity?${query.toString()}`;
  return ask(path, { 'metadata-flavor': 'Google' }, 'GET');
}

/** IMDSv2, then the regional STS by the real SDK, which is loaded by machines that call alone. */
async function onAws(ask: Ask, audience: string, endpoint: string): Promise<string> {
  const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': '60' };
  const session = { 'x-aws-ec2-metadata-token': await ask('/latest/api/token', ttl, 'PUT') };
  const roles = '/latest/meta-data/iam/security-credentials/';
  const role = await ask(roles, session, 'GET');
  const held = JSON.parse(await ask(`${roles}${role}`, session, 'GET')) as Record<string, string>;
  const region = await ask('/latest/meta-data/placement/region', session, 'GET');
  const { GetWebIdentityTokenCommand, STSClient } = await import('@aws-sdk/client-sts');
  const { AccessKeyId = '', SecretAccessKey = '', Token = '' } = held;
  const credentials = {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token,
  };
  const sts = new STSClient({ endpoint, region, credentials });
  try {
    const wanted = { Audience: [audience], SigningAlgorithm: 'ES384', DurationSeconds: 300 };
    const { WebIdentityToken = '' } = await sts.send(new GetWebIdentityTokenCommand(wanted));
    return WebIdentityToken;
  } finally {
    sts.destroy();
  }
}
