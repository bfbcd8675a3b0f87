import { getCondition } from '#kube/conditions.ts';
import { NodeClassError } from '#machine/errors.ts';
import type { ControllerRevision } from '#schemas/kubernetes/core.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { controllerRevisions, secrets } from '#schemas/kubernetes/resource.ts';
import {
  unikraftNodeClasses,
  type UnikraftNodeClass,
  type UnikraftNodeClassSpec,
  type UnikraftNodeClassStatus,
} from '#schemas/nodeclass/types.ts';
import type { Duration } from '#schemas/time/clock.ts';

import { NodeClassController } from '../nodeclass/controller.ts';
import { Revisions } from '../nodeclass/revisions.ts';
import { acmeOf } from './certificates.ts';
import { memoryContext } from './context.ts';
import { FakeClouds } from './fake-clouds.ts';
import { nodeClass, nodeClassSpec } from './objects.ts';

/** One node class, `default`, in a cluster and a cloud in memory, and the controller that looks at it. */
export class NodeClassWorld {
  readonly #memory = memoryContext();
  readonly client = this.#memory.client;
  readonly caches = this.#memory.caches;
  readonly clock = this.#memory.clock;
  readonly notes = this.#memory.notes;
  readonly namespace = this.#memory.namespace;
  readonly context = this.#memory.context;
  readonly clouds = new FakeClouds();
  readonly revisions = new Revisions(this.context);
  readonly #signal = new AbortController().signal;
  #controller = this.#start();

  /** A new process over the same cluster and cloud. */
  restart(): void {
    this.#controller = this.#start();
  }

  async look(): Promise<void> {
    await this.#controller.reconcile('default', this.#signal);
  }

  async forwardAndLook(duration: Duration): Promise<void> {
    await this.clock.forward(duration);
    await this.look();
  }

  /** What `kubectl apply` does, and a look at it. */
  async apply(spec: Partial<UnikraftNodeClassSpec> = {}): Promise<void> {
    if (this.nodeClass) {
      const body = { spec: { ...nodeClassSpec(), ...spec } };
      await this.client.patch(unikraftNodeClasses, { name: 'default' }, { type: 'merge', body });
    } else {
      await this.client.create(unikraftNodeClasses, nodeClass(spec));
    }
    await this.look();
  }

  async end(): Promise<void> {
    await this.client.delete(unikraftNodeClasses, { name: 'default' });
    await this.look();
  }

  seedSecret(name: string, data: Record<string, string>): void {
    const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
    this.client.seed(secrets, {
      metadata: { name, namespace: this.namespace },
      data: Object.fromEntries(encoded),
    });
  }

  get nodeClass(): Live<UnikraftNodeClass> | undefined {
    return this.client.peek(unikraftNodeClasses, { name: 'default' });
  }

  get status(): UnikraftNodeClassStatus {
    return this.nodeClass?.status ?? {};
  }

  condition(type: string): Condition | undefined {
    return getCondition(this.status.conditions, type);
  }

  get current(): ReturnType<Revisions['current']> {
    return this.revisions.current('default');
  }

  get stored(): Live<ControllerRevision>[] {
    return this.client.all(controllerRevisions);
  }

  #start(): NodeClassController {
    const { clouds } = this;
    return new NodeClassController(this.context, {
      clouds,
      releases: clouds.releases,
      acme: acmeOf(this.context),
    });
  }
}

export const imageNotFound = (): NodeClassError =>
  new NodeClassError(
    { code: 'KPU220', condition: 'ImageReady', reason: 'ImageNotFound' },
    'no image matches',
  );
