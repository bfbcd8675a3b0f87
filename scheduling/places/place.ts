import { takenPort, type HostPort } from '../pods/host-ports.ts';
import type { Variant } from '../pods/variant.ts';
import type { Amounts } from '../slots.ts';
import type { Whereabouts } from '../topology/domains.ts';
import type { NodeLike } from '../topology/node-filter.ts';
import { allows, isFinal } from '../topology/rule.ts';
import type { Probe, Verdict } from './probe.ts';

/** A node or a machine that is planned, while Pods are added to it. It only gets fuller. */
export abstract class Place {
  /** Its number; also its domain as a host. */
  readonly index: number;
  /** Room by slot: never less than there is. */
  abstract readonly free: Amounts;
  /** What is known about its labels and taints just now. */
  abstract readonly where: NodeLike & Whereabouts;
  readonly #ports: HostPort[];

  constructor(index: number, ports: readonly HostPort[] = []) {
    this.index = index;
    this.#ports = [...ports];
  }

  /** What follows a verdict of `fits` is {@link take}, or nothing. */
  check(probe: Probe): Verdict {
    const { variant, needs } = probe;
    if (!this.#hasRoom(needs) || takenPort(variant.ports, this.#ports)) return 'never';
    const verdict = this.#host(variant);
    return verdict === 'fits' ? this.checkOwn(probe) : verdict;
  }

  take(pod: string, probe: Probe): void {
    const { ports } = probe.variant;
    if (ports.length > 0) this.#ports.push(...ports);
    this.takeOwn(pod, probe);
  }

  /** Everything but what all places have in common. */
  protected abstract checkOwn(probe: Probe): Verdict;
  protected abstract takeOwn(pod: string, probe: Probe): void;

  #hasRoom(needs: Amounts): boolean {
    const { free } = this;
    for (let slot = 0; slot < needs.length; slot++) {
      const need = needs[slot]!;
      if (need > 0 && need > free[slot]!) return false;
    }
    return true;
  }

  #host({ hostRules }: Variant): Verdict {
    for (const rule of hostRules) {
      if (!allows(rule, this.index, 0)) return isFinal(rule) ? 'never' : 'not now';
    }
    return 'fits';
  }
}
