import { connect } from 'node:net';

import { Agent, request } from 'undici';

import type { Container } from '#schemas/kubernetes/core.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import type { Probe } from './pod-spec.ts';

export interface ProbeTarget {
  readonly container: Container;
  /** Local port by container port. */
  readonly ports: ReadonlyMap<number, number>;
}

export interface Watched {
  /** Every answer until then was a failure when this is the first time. */
  onSuccess(): void;
  /** As many failures in a row as `failureThreshold` says. */
  onFailure(why: string): void;
}

/**
 * Asks until the signal aborts. While the last answer was bad it asks each second at the latest, so that nobody
 * waits for a long period to pass.
 */
export async function watchProbe(
  probe: Probe,
  target: ProbeTarget,
  watched: Watched,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const period = seconds(probe.periodSeconds ?? 10);
  await clock.sleep(seconds(probe.initialDelaySeconds ?? 0), signal);
  let failures = 0;
  while (!signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- one question at a time
    const why = await ask(probe, target, signal);
    if (signal.aborted) return;
    failures = why === undefined ? 0 : failures + 1;
    if (why === undefined) watched.onSuccess();
    else if (failures >= (probe.failureThreshold ?? 3)) watched.onFailure(why);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await clock.sleep(why === undefined ? period : Math.min(period, seconds(1)), signal);
  }
}

/** @returns why it failed; undefined when it is well */
async function ask(
  probe: Probe,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeout = seconds(probe.timeoutSeconds ?? 1);
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  try {
    if (probe.httpGet) return await askHttp(probe.httpGet, target, within);
    if (probe.tcpSocket) return await askTcp(portOf(probe.tcpSocket.port, target), within);
    return undefined; // exec and gRPC cannot be asked here
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function askHttp(
  { path = '/', port, scheme = 'HTTP' }: NonNullable<Probe['httpGet']>,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 }); // as the kubelet does
  try {
    const url = `${scheme.toLowerCase()}://127.0.0.1:${portOf(port, target)}${path}`;
    const { statusCode, body } = await request(url, { dispatcher: agent, signal });
    await body.dump();
    return statusCode >= 200 && statusCode < 400 ? undefined : `HTTP ${statusCode} from ${path}`;
  } finally {
    await agent.destroy();
  }
}

async function askTcp(port: number, signal: AbortSignal): Promise<undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const socket = connect({ host: '127.0.0.1', port, signal });
  socket.once('connect', () => resolve(undefined)).once('error', reject);
  return promise.finally(() => socket.destroy());
}

function portOf(port: number | string, { container, ports }: ProbeTarget): number {
  const declared =
    typeof port === 'number'
      ? port
      : container.ports?.find(({ name }) => name === port)?.containerPort;
  if (declared === undefined) throw new Error(`the container has no port named ${port}`);
  return ports.get(declared) ?? declared;
}
