import { randomBytes } from 'node:crypto';

import { CloudError } from '../wire/service.ts';
import type { Tags } from './lists.ts';

/** A network interface of the account. */
export interface Ec2Interface {
  readonly id: string;
  readonly zone: string;
  readonly subnet: string;
  readonly tags: Tags;
  /** Somebody may set it to false on an interface that is in use. */
  deletedOnTermination: boolean;
  /** The instance that it is attached to. */
  instance: string | undefined;
}

/** Every network interface there is: each comes with an instance, and goes with it or outlives it. */
export class Interfaces {
  readonly #all = new Map<string, Ec2Interface>();

  get all(): readonly Ec2Interface[] {
    return [...this.#all.values()];
  }

  /** Those that stayed when their instance ended. */
  get left(): readonly Ec2Interface[] {
    return this.all.filter(({ instance }) => instance === undefined);
  }

  add(one: Pick<Ec2Interface, 'zone' | 'subnet' | 'tags' | 'instance'>): void {
    const id = `eni-0${randomBytes(8).toString('hex')}`;
    this.#all.set(id, { ...one, id, deletedOnTermination: true });
  }

  /** Its instance has ended. */
  release(instance: string): void {
    for (const one of this.all.filter((each) => each.instance === instance)) {
      if (one.deletedOnTermination) this.#all.delete(one.id);
      else one.instance = undefined;
    }
  }

  /** Throws InvalidNetworkInterfaceID.NotFound and InvalidNetworkInterface.InUse. */
  delete(id: string): void {
    const found = this.#all.get(id);
    if (!found) {
      const absent = `The networkInterface ID '${id}' does not exist`;
      throw new CloudError('InvalidNetworkInterfaceID.NotFound', absent);
    }
    if (found.instance !== undefined) {
      throw new CloudError('InvalidNetworkInterface.InUse', `Interface: [${id}] in use.`);
    }
    this.#all.delete(id);
  }
}
