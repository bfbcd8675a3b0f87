import { type Clock, seconds } from '#schemas/time/clock.ts';

import { ListIncomplete } from '../../errors.ts';
import type { Instance } from '../../machine.ts';
import { Shared } from '../shared.ts';
import type { ComputeApi } from './api.ts';
import { failed } from './errors.ts';
import { announcedFor, instanceOf, isTentative } from './instances.ts';
import { labelOf } from './labels.ts';
import type { GceInstance, InstancesOfZone } from './resources.ts';

/** An instance in a list. */
export interface Sighting {
  readonly instance: Instance;
  /** Its resources are not there yet, so it may vanish again. */
  readonly isTentative: boolean;
  /** What Google has announced that will end it. */
  readonly announced: string | undefined;
}

export function sightingOf(found: GceInstance): Sighting {
  return {
    instance: instanceOf(found),
    isTentative: isTentative(found),
    announced: announcedFor(found),
  };
}

interface View {
  readonly sightings: readonly Sighting[];
  /** Zones that could not be asked now and never could, since this process began. */
  readonly unknown: readonly string[];
}

/**
 * One cluster's instances in a project, from one list that all callers share: it was asked for at most two seconds ago,
 * or is still under way.
 *
 * A zone that cannot be reached leaves a hole in such a list, and comes with a warning in place of its instances. It
 * shows what it showed last: its machines neither vanish from view nor hold up those of other zones. Where nothing was
 * seen before, the list is incomplete, and nobody may conclude from it that something is gone.
 */
export class Sightings {
  readonly #api: ComputeApi;
  readonly #shared: Shared<View>;
  /** By project and cluster, then by zone. */
  readonly #last = new Map<string, Map<string, readonly Sighting[]>>();

  constructor(api: ComputeApi, clock: Clock) {
    this.#api = api;
    this.#shared = new Shared(clock, seconds(2));
  }

  /** @throws ListIncomplete when a zone of the region has never been seen */
  async complete(
    project: string,
    region: string,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Sighting[]> {
    const { sightings, unknown } = await this.#view(project, clusterUid, signal);
    const missing = unknown.filter((zone) => zone.startsWith(`${region}-`));
    if (missing.length > 0) {
      throw new ListIncomplete(
        `Google Cloud did not list the instances of ${missing.join(', ')}: nothing is concluded from what it did list`,
      );
    }
    return sightings.filter(({ instance }) => instance.region === region);
  }

  /** What can be seen, complete or not: for finding something, never for its absence. */
  async seen(
    project: string,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Sighting[]> {
    return (await this.#view(project, clusterUid, signal)).sightings;
  }

  /** Where an instance of this name was when it was last looked for, whichever cluster asked. */
  lastSeen(project: string, name: string): readonly Instance[] {
    return this.#lastOf(project)
      .map(({ instance }) => instance)
      .filter(({ id }) => id === name);
  }

  /** Of the last lists, what is announced for instances of these names. */
  announced(project: string, names: ReadonlySet<string>): readonly { id: string; why: string }[] {
    return this.#lastOf(project).flatMap(({ instance: { id }, announced: why }) =>
      why !== undefined && names.has(id) ? [{ id, why }] : [],
    );
  }

  #lastOf(project: string): readonly Sighting[] {
    const lists = [...this.#last].filter(([key]) => key.startsWith(`${project} `));
    return lists.flatMap(([, zones]) => [...zones.values()].flat());
  }

  async #view(project: string, clusterUid: string, signal: AbortSignal): Promise<View> {
    const key = `${project} ${clusterUid}`;
    return this.#shared.get(key, async () => this.#list(key, project, clusterUid), signal);
  }

  async #list(key: string, project: string, clusterUid: string): Promise<View> {
    const last = this.#last.get(key) ?? new Map<string, readonly Sighting[]>();
    this.#last.set(key, last);
    const zones = await this.#ask(project, clusterUid);
    const unknown: string[] = [];
    for (const [zone, lists] of zones) {
      if (lists.every(isGood)) last.set(zone, lists.flatMap(sightingsIn));
      else if (!last.has(zone)) unknown.push(zone);
    }
    return { sightings: [...last.values()].flat(), unknown };
  }

  /** By zone, page after page. */
  async #ask(project: string, clusterUid: string): Promise<Map<string, InstancesOfZone[]>> {
    const filter = `labels.${labelOf.cluster}=${clusterUid}`;
    // the shared call outlives any one caller
    const { signal } = new AbortController();
    try {
      const pages = await this.#api.aggregatedInstances(project, filter, signal);
      const zones = new Map<string, InstancesOfZone[]>();
      for (const [scope, list] of pages.flatMap(({ items = {} }) => Object.entries(items))) {
        const zone = scope.replace(/^zones\//, '');
        zones.set(zone, [...(zones.get(zone) ?? []), list]);
      }
      for (const scope of pages.flatMap(({ unreachables = [] }) => unreachables)) {
        const zone = scope.split('/').at(-1) ?? '';
        zones.set(zone, [...(zones.get(zone) ?? []), { warning: { code: 'UNREACHABLE' } }]);
      }
      return zones;
    } catch (error) {
      throw failed(error, 'Listing instances');
    }
  }
}

/** A zone without instances on a page says so by a warning, too. */
function isGood({ warning }: InstancesOfZone): boolean {
  return warning === undefined || warning.code === 'NO_RESULTS_ON_PAGE';
}

function sightingsIn({ instances = [] }: InstancesOfZone): Sighting[] {
  return instances.map(sightingOf);
}
