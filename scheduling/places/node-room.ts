import { unmounted } from '../pods/drivers.ts';
import type { HostPort } from '../pods/host-ports.ts';
import type { Variant } from '../pods/variant.ts';
import type { Amounts } from '../slots.ts';
import type { Attachments, NodeInSight } from '../solver.ts';
import type { NodeKind } from './node-kind.ts';
import { Place } from './place.ts';
import type { Probe, Verdict } from './probe.ts';

/** The room that is left on a node in sight while a pass fills it. */
export class NodeRoom extends Place {
  readonly node: NodeInSight;
  readonly where: NodeKind;
  readonly free: Amounts;
  readonly pods: string[] = [];
  readonly #attached = new Map<string, Set<string>>();

  constructor(
    index: number,
    node: NodeInSight,
    where: NodeKind,
    room: { readonly free: Amounts; readonly ports: readonly HostPort[] },
  ) {
    super(index, room.ports);
    this.node = node;
    this.where = where;
    this.free = room.free;
    if (node.attached) this.#attach(node.attached);
  }

  protected checkOwn(probe: Probe): Verdict {
    const { variant } = probe;
    if (probe.keepsToEmpty && !this.node.empty) return 'never';
    if (!probe.suits(this.where) || !this.#takesVolumes(variant)) return 'never';
    const isRefused = variant.choices.some((choice) => !choice.admits(this.where));
    return isRefused ? probe.refusal : 'fits';
  }

  protected takeOwn(pod: string, { needs, variant }: Probe): void {
    this.pods.push(pod);
    for (let slot = 0; slot < needs.length; slot++) this.free[slot]! -= needs[slot]!;
    if (variant.attached) this.#attach(variant.attached);
  }

  #takesVolumes({ drivers, attached }: Variant): boolean {
    return unmounted(drivers, this.node.drivers) === undefined && this.#canAttach(attached);
  }

  /** A volume that is attached already costs nothing more. */
  #canAttach(attached: Attachments | undefined): boolean {
    const limits = this.node.attachLimits;
    if (!attached || !limits) return true;
    return Object.entries(attached).every(([driver, volumes]) => {
      const all = new Set([...(this.#attached.get(driver) ?? []), ...volumes]);
      return !Object.hasOwn(limits, driver) || all.size <= limits[driver]!;
    });
  }

  #attach(attached: Attachments): void {
    for (const [driver, volumes] of Object.entries(attached)) {
      this.#attached.set(driver, new Set([...(this.#attached.get(driver) ?? []), ...volumes]));
    }
  }
}
