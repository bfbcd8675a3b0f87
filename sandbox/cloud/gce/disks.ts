import { CloudError } from '../wire/service.ts';
import type { Disk, Launch } from './instance.ts';

/** A disk of the project. */
export interface GceDisk {
  /** Unique in its zone. The first disk of an instance has its name. */
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Somebody may set it to false on a disk that is in use. */
  autoDelete: boolean;
  /** The instance that has it. */
  instance: string | undefined;
}

/** Every disk there is: each comes with an instance, and goes with it or outlives it. */
export class Disks {
  readonly #all = new Map<string, GceDisk>();

  get all(): readonly GceDisk[] {
    return [...this.#all.values()];
  }

  /** Those that stayed when their instance ended, since nobody asked for their deletion. */
  get left(): readonly GceDisk[] {
    return this.all.filter(({ instance }) => instance === undefined);
  }

  add({ zone, name: instance, disks }: Pick<Launch, 'zone' | 'name' | 'disks'>): void {
    for (const [index, disk] of disks.entries()) this.#add(zone, instance, disk, index);
  }

  /** Its instance has ended. */
  release(zone: string, instance: string): void {
    const own = this.all.filter((one) => one.zone === zone && one.instance === instance);
    for (const disk of own) {
      if (disk.autoDelete) this.#all.delete(`${zone}/${disk.name}`);
      else disk.instance = undefined;
    }
  }

  /** Throws notFound and resourceInUseByAnotherResource. */
  delete(zone: string, name: string): void {
    const disk = this.#all.get(`${zone}/${name}`);
    if (!disk) throw new CloudError('notFound', `The resource 'disks/${name}' was not found`, 404);
    if (disk.instance !== undefined) {
      const used = `The disk resource 'disks/${name}' is already being used by 'instances/${disk.instance}'`;
      throw new CloudError('resourceInUseByAnotherResource', used);
    }
    this.#all.delete(`${zone}/${name}`);
  }

  #add(zone: string, instance: string, { autoDelete, labels }: Disk, index: number): void {
    const name = index === 0 ? instance : `${instance}-${index}`;
    this.#all.set(`${zone}/${name}`, { name, zone, labels, autoDelete, instance });
  }
}
