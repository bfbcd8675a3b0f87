import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { leases } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { CrashWorld } from './crash-world.ts';

const lease = { namespace: 'karpenter-unikraft', name: 'karpenter-unikraft-leader-election' };

/** The controller's processes: one that leads, and where somebody is to take over, one that waits. */
export class Operators {
  readonly #world: CrashWorld;
  readonly #standby: boolean;
  #running: LocalProcess[] = [];
  /** How often one was killed. */
  kills = 0;

  constructor(world: CrashWorld, options: { standby: boolean }) {
    this.#world = world;
    this.#standby = options.standby;
  }

  async start(): Promise<void> {
    this.#running.push(this.#process());
    if (!this.#standby) return;
    await this.#world.until('a leader', seconds(90), async () => (await this.#holder()) !== '');
    this.#running.push(this.#process());
  }

  /** The leader dies at once; what was done meanwhile is done before anybody follows. */
  async crash(meanwhile: () => Promise<void> = async () => {}, waits = false): Promise<void> {
    const [leader, ...others] = this.#running;
    if (!leader) throw new Error('no controller runs');
    if (leader.exit)
      throw new Error(`the controller has ended by itself:\n${await leader.lastLines(30)}`);
    leader.kill('SIGKILL');
    await leader.exited;
    this.kills += 1;
    this.#running = others;
    await meanwhile();
    if (!this.#standby) return this.start();
    await this.#handOver(waits);
    this.#running.push(this.#process());
  }

  async stop(): Promise<void> {
    for (const process of this.#running.splice(0)) await process.stop();
  }

  /** The last words of whoever leads, for people. */
  async lastWords(): Promise<string> {
    return (await this.#running[0]?.lastLines(25)) ?? '';
  }

  /** @param waits  whether the dead leader's lease runs out by itself, or is taken from it, as after a minute */
  async #handOver(waits: boolean): Promise<void> {
    const dead = await this.#holder();
    if (!waits) {
      const body = { spec: { holderIdentity: '', leaseDurationSeconds: 1 } };
      await this.#world.client.patch(leases, lease, { type: 'merge', body });
    }
    await this.#world.until('another leader', seconds(90), async () => {
      const holder = await this.#holder();
      return holder !== '' && holder !== dead;
    });
  }

  async #holder(): Promise<string> {
    const { items } = await this.#world.client.list(leases, { namespace: lease.namespace });
    const own = items.find(({ metadata }) => metadata.name === lease.name);
    return own?.spec?.holderIdentity ?? '';
  }

  #process(): LocalProcess {
    const { world, app, environment } = this.#world;
    return world.run.start({
      name: 'controller',
      command: [process.execPath, 'controller/main.js'],
      cwd: app,
      env: { ...environment, DISABLE_LEADER_ELECTION: String(!this.#standby) },
    });
  }
}
