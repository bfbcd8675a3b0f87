import type { PemPair } from '#pki/certificate.ts';
import { newRequest } from '#pki/new-request.ts';
import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { AcmeClient, Authorization, Challenge, Order } from './client.ts';
import { AcmeProblem } from './problem.ts';

/** Where challenges are put; others' texts at a name stay. */
export interface Challenges {
  add(name: string, text: string, signal: AbortSignal): Promise<void>;
  /** Whether whoever looks the name up reads the text by now. */
  isSeen(name: string, text: string, signal: AbortSignal): Promise<boolean>;
}

export interface IssueParts {
  readonly client: AcmeClient;
  readonly challenges: Challenges;
  readonly clock: Clock;
}

const pause: Duration = seconds(1);
/** Servers of a zone tell each other within a minute or two; an authority looks for less. */
const patience: Duration = seconds(150);

/**
 * Answers an order's challenges and takes its certificate; its caller takes the challenges down again. All are put up before the
 * authority looks at any, since a name and its wildcard have one place for both.
 *
 * @throws AcmeProblem where the authority refuses, or it takes longer than a few minutes
 */
export async function fulfil(
  url: string,
  names: readonly string[],
  { client, challenges, clock }: IssueParts,
  signal: AbortSignal,
): Promise<PemPair> {
  const pending = await pendingIn(url, client, signal);
  await Promise.all(pending.map(async ({ name, text }) => challenges.add(name, text, signal)));
  const until = clock.now() + patience;
  const wait = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    while (!(await isSo())) {
      if (clock.now() > until) throw new AcmeProblem({ status: 0 }, `it took too long: ${what}`);
      // oxlint-disable-next-line no-await-in-loop -- asked again and again
      await clock.sleep(pause, signal);
    }
  };
  await wait('the challenge is not seen in the zone', async () =>
    every(pending, async ({ name, text }) => challenges.isSeen(name, text, signal)),
  );
  for (const { challenge } of pending) {
    // oxlint-disable-next-line no-await-in-loop -- an authority has limits
    await client.ready(challenge, signal);
  }
  await wait('the authority has not looked', async () =>
    every(pending, async (one) => isValid(await client.authorization(one.url, signal))),
  );
  const { privateKey, csr } = await newRequest(names);
  await client.finalize(await client.order(url, signal), csr, signal);
  let order: Order | undefined;
  await wait('the certificate is not made', async () => {
    order = await client.order(url, signal);
    if (order.status === 'invalid')
      throw new AcmeProblem({ status: 0 }, order.error?.detail ?? 'the order failed');
    return order.status === 'valid';
  });
  return { certificate: await client.certificate(order?.certificate ?? '', signal), privateKey };
}

interface Placed {
  /** URL of its authorization. */
  readonly url: string;
  readonly name: string;
  readonly text: string;
  readonly status: Authorization['status'];
  readonly challenge: Challenge;
}

async function pendingIn(url: string, client: AcmeClient, signal: AbortSignal): Promise<Placed[]> {
  const placed = await challengesIn(url, client, signal);
  return placed.filter(({ status }) => status === 'pending');
}

async function challengesIn(
  url: string,
  client: AcmeClient,
  signal: AbortSignal,
): Promise<Placed[]> {
  const { authorizations } = await client.order(url, signal);
  return Promise.all(
    authorizations.map(async (one) => {
      const { identifier, challenges, status } = await client.authorization(one, signal);
      const challenge = challenges.find(({ type }) => type === 'dns-01');
      if (!challenge)
        throw new AcmeProblem({ status: 0 }, `${identifier.value} cannot be proven by DNS`);
      const text = await client.textFor(challenge);
      return { url: one, name: `_acme-challenge.${identifier.value}`, text, status, challenge };
    }),
  );
}

/** @throws AcmeProblem once the authority will not have it */
function isValid({ status, challenges, identifier }: Authorization): boolean {
  if (status === 'pending' || status === 'valid') return status === 'valid';
  const said = challenges.find(({ error }) => error)?.error?.detail ?? status;
  throw new AcmeProblem({ status: 0 }, `${identifier.value}: ${said}`);
}

async function every<T>(all: readonly T[], isSo: (one: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(all.map(isSo))).every(Boolean);
}
