import type { Clouds } from '#controller/clouds.ts';
import { NodeClassController } from '#controller/nodeclass/controller.ts';
import { acmeOf } from '#controller/testing/certificates.ts';
import { memoryContext } from '#controller/testing/context.ts';
import { FakeClouds } from '#controller/testing/fake-clouds.ts';
import { nodeClassSpec } from '#controller/testing/objects.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { getCondition } from '#kube/conditions.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import {
  unikraftNodeClasses,
  type UnikraftNodeClassSpec,
  type UnikraftNodeClassStatus,
} from '#schemas/nodeclass/types.ts';
import { type Duration, milliseconds, seconds } from '#schemas/time/clock.ts';

const { signal } = new AbortController();

/** Node classes in a cluster in memory, looked up by their controller in clouds on the wire; names and charts are always found. */
export class ClassesInClouds {
  readonly #memory = memoryContext();
  readonly clock = this.#memory.clock;
  readonly notes = this.#memory.notes;
  #controller!: NodeClassController;

  /** From there on; which adapter a class has, its spec decides. */
  useClouds(provider: (spec: UnikraftNodeClassSpec) => CloudProvider): void {
    const fakes = new FakeClouds();
    const clouds: Clouds = {
      for: async (spec) => provider(spec),
      dns: async () => fakes.dns(),
    };
    this.#controller = new NodeClassController(this.#memory.context, {
      clouds,
      releases: fakes.releases,
      acme: acmeOf(this.#memory.context),
    });
  }

  /** What `kubectl apply` does, and a look at it. */
  async apply(name: string, spec: Partial<UnikraftNodeClassSpec>): Promise<void> {
    const { client } = this.#memory;
    const { aws, ...rest } = nodeClassSpec();
    const body = { spec: { ...rest, ...(!spec.gcp && { aws }), ...spec } };
    await client
      .patch(unikraftNodeClasses, { name }, { type: 'merge', body })
      .catch(async (error: unknown) => {
        if (!isNotFound(error)) throw error;
        await client.create(unikraftNodeClasses, { metadata: { name }, ...body });
      });
    await this.look(name);
  }

  /** @returns when it wants to be looked at again */
  async look(name: string): Promise<Duration> {
    const { requeueAfter = seconds(60) } = await this.#controller.reconcile(name, signal);
    return requeueAfter;
  }

  /** Lets time pass, with each class looked at whenever it wants to be. */
  async pass(time: Duration, ...names: string[]): Promise<void> {
    const end = this.clock.now() + time;
    while (this.clock.now() < end) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const due = await Promise.all(names.map(async (name) => this.look(name)));
      const pause = Math.max(milliseconds(100), Math.min(...due, end - this.clock.now()));
      // oxlint-disable-next-line no-await-in-loop
      await this.clock.forward(pause);
    }
  }

  status(name: string): UnikraftNodeClassStatus {
    return this.#memory.client.peek(unikraftNodeClasses, { name })?.status ?? {};
  }

  condition(name: string, type: string): Condition | undefined {
    return getCondition(this.status(name).conditions, type);
  }

  /** `Warning CloudUnreachable` of a class. */
  told(name: string): string[] {
    const own = this.notes.filter(({ object }) => object.metadata?.name === name);
    return own.map(({ type, reason }) => `${type} ${reason}`);
  }
}
