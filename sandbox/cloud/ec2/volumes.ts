import { randomBytes } from 'node:crypto';

import { CloudError } from '../wire/service.ts';
import type { Volume } from './instance.ts';

/** A disk of the account. */
export interface Ec2Volume extends Volume {
  readonly id: string;
  readonly zone: string;
  /** Real time, RFC 3339. */
  readonly createdAt: string;
  /** The instance that it is attached to. */
  instance: string | undefined;
}

/** Every disk there is: each comes with an instance, and goes with it or outlives it. */
export class Volumes {
  readonly #all = new Map<string, Ec2Volume>();

  get all(): readonly Ec2Volume[] {
    return [...this.#all.values()];
  }

  /** Those that stayed when their instance ended, since nobody asked for their deletion. */
  get left(): readonly Ec2Volume[] {
    return this.all.filter(({ instance }) => instance === undefined);
  }

  add(volume: Omit<Ec2Volume, 'id'>): void {
    const id = `vol-0${randomBytes(8).toString('hex')}`;
    this.#all.set(id, { ...volume, id });
  }

  /** Their instance has ended. */
  release(instance: string): void {
    for (const volume of this.all.filter((one) => one.instance === instance)) {
      if (volume.deletedOnTermination) this.#all.delete(volume.id);
      else volume.instance = undefined;
    }
  }

  /** Throws InvalidVolume.NotFound and VolumeInUse. */
  delete(id: string): void {
    const volume = this.#all.get(id);
    if (!volume) {
      throw new CloudError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
    }
    if (volume.instance !== undefined) {
      const attached = `Volume ${id} is currently attached to ${volume.instance}`;
      throw new CloudError('VolumeInUse', attached);
    }
    this.#all.delete(id);
  }
}
