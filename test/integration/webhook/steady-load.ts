import { connect as connectTls } from 'node:tls';

import type { KubeClient } from '#kube/client/client.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import { inject_, podWith } from './pods.ts';

export interface LoadReport {
  readonly sent: number;
  /** What went wrong, each once. A Pod that comes back as it was sent counts: its hook was skipped in silence. */
  readonly failures: readonly string[];
}

/** Pods that opt in, sent to the API server at a steady rate whether it answers or not; nothing is written. */
export class SteadyLoad {
  readonly #client: KubeClient;
  readonly #answers: Promise<string | undefined>[] = [];
  readonly #stop = new AbortController();
  readonly #sending: Promise<void>;

  private constructor(client: KubeClient, clock: Clock, perSecond: number) {
    this.#client = client;
    this.#sending = this.#send(clock, seconds(1) / perSecond);
  }

  static start(client: KubeClient, clock: Clock, perSecond = 50): SteadyLoad {
    return new SteadyLoad(client, clock, perSecond);
  }

  /** Resolves once all that were sent are answered. */
  async end(): Promise<LoadReport> {
    this.#stop.abort();
    await this.#sending;
    const outcomes = await Promise.all(this.#answers);
    const failures = outcomes.filter((outcome) => outcome !== undefined);
    return { sent: outcomes.length, failures: [...new Set(failures)] };
  }

  async #send(clock: Clock, pause: Duration): Promise<void> {
    for (let due = clock.now(); !this.#stop.signal.aborted; due += pause) {
      this.#answers.push(this.#one());
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the rate
      await clock.sleep(Math.max(0, due + pause - clock.now()), this.#stop.signal).catch(() => {});
    }
  }

  async #one(): Promise<string | undefined> {
    try {
      const pod = podWith({ labels: { [inject_]: 'true' } });
      const { spec } = await this.#client.create(pods, pod, { dryRun: true });
      return spec?.nodeSelector ? undefined : 'a Pod came back as it was sent';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** A new connection, as by an API server that has none yet. @param ca PEM @returns why it would not call */
export async function distrust(port: number, ca: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  socket.once('secureConnect', () => resolve(undefined));
  socket.once('error', ({ message }) => resolve(message));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
