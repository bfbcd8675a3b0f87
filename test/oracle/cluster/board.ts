import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { silentLogger } from '#kube/log.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import type { Clock, Duration } from '#schemas/time/clock.ts';

/** What the API server shows of Nodes and Pods, so that waiting costs no reads. */
export class Board {
  readonly #clock: Clock;
  readonly #nodes: SharedInformer<Node>;
  readonly #pods: SharedInformer<Pod>;
  readonly #stop = new AbortController();
  #changes = 0;
  #waiting = new Set<() => void>();

  private constructor(client: KubeClient, clock: Clock) {
    this.#clock = clock;
    const options = { clock, log: silentLogger };
    this.#nodes = new SharedInformer(client, nodes, options);
    this.#pods = new SharedInformer(client, pods, options);
    const changed = (): void => this.#changed();
    this.#nodes.subscribe({ add: changed, update: changed, delete: changed });
    this.#pods.subscribe({ add: changed, update: changed, delete: changed });
  }

  static async watch(client: KubeClient, clock: Clock): Promise<Board> {
    const board = new Board(client, clock);
    const { signal } = board.#stop;
    void board.#nodes.run(signal);
    void board.#pods.run(signal);
    await Promise.all([board.#nodes.whenSynced(signal), board.#pods.whenSynced(signal)]);
    return board;
  }

  stop(): void {
    this.#stop.abort();
  }

  get nodes(): readonly Live<Node>[] {
    return this.#nodes.list();
  }

  get pods(): readonly Live<Pod>[] {
    return this.#pods.list();
  }

  node(name: string): Live<Node> | undefined {
    return this.#nodes.get(name);
  }

  /** @param key `namespace/name` */
  pod(key: string): Live<Pod> | undefined {
    return this.#pods.get(key);
  }

  /** Resolves with true once it holds, with false when nothing has changed for so long and it does not. */
  async until(holds: () => boolean, patience: Duration): Promise<boolean> {
    while (!holds()) {
      const before = this.#changes;
      // oxlint-disable-next-line no-await-in-loop -- each look follows a change
      await this.#change(patience);
      if (this.#changes === before) return holds();
    }
    return true;
  }

  /** Resolves once nothing has changed for so long. */
  async quiet(patience: Duration): Promise<void> {
    await this.until(() => false, patience);
  }

  #changed(): void {
    this.#changes += 1;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #change(patience: Duration): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(patience, resolve);
    this.#waiting.add(() => {
      cancel();
      resolve();
    });
    return promise;
  }
}
