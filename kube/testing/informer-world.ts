import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

/** A world for tests of caches: a scripted API server, a clock that stands still, and an informer that says what it tells. */
import { SharedInformer, type InformerOptions } from '../cache/shared-informer.ts';
import { UndiciKubeClient } from '../client/undici-client.ts';
import { createLogger } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { ScriptedServer, ScriptedWatch } from './scripted-server.ts';

export function pod(name: string, version: number, uid = `${name}-1`, node?: string): Live<Pod> {
  const metadata = { namespace: 'x', name, uid, resourceVersion: String(version) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] },
    spec: { containers: [], ...(node ? { nodeName: node } : {}) },
  };
}

export function bookmark(version: number, annotations = {}): object {
  return { kind: 'Pod', metadata: { resourceVersion: String(version), annotations } };
}

/** The bookmark that ends a streamed first state. */
export function initialEnd(version: number): object {
  return bookmark(version, { 'k8s.io/initial-events-end': 'true' });
}

export class InformerWorld implements AsyncDisposable {
  readonly server: ScriptedServer;
  readonly client: UndiciKubeClient;
  readonly clock = new FakeClock();
  readonly metrics = new Metrics();
  readonly stop = new AbortController();
  /** What was logged. */
  readonly lines: string[] = [];
  /** The informer's run. */
  running: Promise<void> = Promise.resolve();

  private constructor(server: ScriptedServer) {
    this.server = server;
    this.client = new UndiciKubeClient(server.connection, { clock: this.clock });
  }

  static async open(): Promise<InformerWorld> {
    return new InformerWorld(await ScriptedServer.start());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await this.running;
    await this.client.close();
    await this.server[Symbol.asyncDispose]();
  }

  start(options: Partial<InformerOptions<Pod>> = {}) {
    const destination = { write: (line: string) => this.lines.push(line) };
    const { clock, metrics } = this;
    const informer = new SharedInformer<Pod>(this.client, pods, {
      clock,
      metrics,
      log: createLogger({ level: 'debug', name: 'test', destination }),
      random: () => 0.5,
      ...options,
    });
    const told: string[] = [];
    informer.subscribe({
      add: ({ metadata }) => told.push(`add ${metadata.name}`),
      update: ({ metadata }, old) =>
        told.push(`update ${metadata.name} ${old.metadata.resourceVersion}`),
      delete: ({ metadata }) => told.push(`delete ${metadata.name}`),
    });
    this.running = informer.run(this.stop.signal);
    return { informer, told };
  }

  /** An informer that has streamed these Pods at version 10 and goes on watching. */
  async started(present: Live<Pod>[] = [], options: Partial<InformerOptions<Pod>> = {}) {
    const watch = new ScriptedWatch();
    this.server.script(watch.answer);
    const { informer, told } = this.start(options);
    for (const each of present) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await watch.send('ADDED', each);
    }
    await watch.send('BOOKMARK', initialEnd(10));
    await informer.whenSynced(this.stop.signal);
    told.length = 0;
    return { informer, told, watch };
  }

  /** The query of a request, by its place among all; negative from the end. */
  queryOf(index: number): Record<string, string> {
    return Object.fromEntries(this.server.asked.at(index)?.query ?? []);
  }

  /** Sockets need real turns of the event loop, not time. */
  async turns(count = 20): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async until(happened: () => boolean): Promise<void> {
    const giveUp = Date.now() + seconds(4); // real time: a socket that does not answer fails the test
    while (!happened() && Date.now() < giveUp) {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await this.turns(1);
    }
    if (!happened()) throw new Error('it never happened');
  }

  /** Lets the clock go on until something has happened. @returns how long that took on it */
  async untilInTime(happened: () => boolean, step: Duration = seconds(1)): Promise<Duration> {
    const from = this.clock.now();
    for (let i = 0; i < 1000 && !happened(); i++) {
      // oxlint-disable-next-line no-await-in-loop -- step by step
      await this.clock.forward(step);
    }
    if (!happened()) throw new Error('it never happened, however long the clock went on');
    return this.clock.now() - from;
  }
}
