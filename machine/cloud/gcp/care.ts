import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { CreateError } from '../../errors.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance, MachineIdentity } from '../../machine.ts';
import type { InstanceCare, InstanceTrouble } from '../provider.ts';
import type { ComputeApi, Where } from './api.ts';
import { failed } from './errors.ts';
import { type FindingParts, isOf, lookAt } from './finding.ts';
import { ownLabels } from './labels.ts';
import type { Sightings } from './sightings.ts';
import { gcpOf } from './spec.ts';

/** What Compute Engine says of instances that run: announced ends of their hosts, and labels that somebody took off. */
export class GceCare implements InstanceCare {
  readonly #api: ComputeApi;
  readonly #sightings: Sightings;

  constructor({ api, sightings }: Pick<FindingParts, 'api' | 'sightings'>) {
    this.#api = api;
    this.#sightings = sightings;
  }

  /** A name is asked for in each zone of the class: three calls for one, and few lose their labels at once. */
  async byId(
    { subnets, spec }: ResolvedNodeClass,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const { project } = gcpOf(spec);
    const zones = [...new Set(subnets.map(({ zone }) => zone))];
    const places = ids.flatMap((instance) => zones.map((zone) => ({ project, zone, instance })));
    const found = await Promise.all(places.map(async (one) => lookAt(this.#api, one, signal)));
    return found.flatMap((sighting) => sighting?.instance ?? []);
  }

  /**
   * Labels alone: by them an instance is found. Whose it is its metadata says as well, and has to: an id here is a name,
   * which another program's instance may have by now.
   */
  async retag(
    { spec }: ResolvedNodeClass,
    instance: Instance,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { id, zone, tags } = instance;
    const own = Object.entries(ownLabels(identity));
    const lost = own.filter(([key, value]) => tags[key] !== value).map(([key]) => key);
    if (lost.length === 0) return [];
    if (!isOf(instance, identity)) {
      throw new CreateError(
        'NameTaken',
        `Instance ${id} is not of this claim; it is left alone`,
        'slow',
      );
    }
    const { project } = gcpOf(spec);
    try {
      await this.#label({ project, zone, instance: id }, Object.fromEntries(own), signal);
      return lost;
    } catch (error) {
      signal.throwIfAborted();
      throw failed(error, `Labelling instance ${id} again`);
    }
  }

  /**
   * Of the list that was taken last: there is no other call for it. What a host suffers without a warning ends its
   * instance, since none restarts by itself, and so is seen by its state.
   */
  async troubles(
    { spec }: ResolvedNodeClass,
    ids: readonly string[],
  ): Promise<readonly InstanceTrouble[]> {
    const { project } = gcpOf(spec);
    const announced = this.#sightings.announced(project, new Set(ids));
    return announced.map(({ id: instanceId, why }) => ({ instanceId, why }));
  }

  /** Labels are written whole, so those of others are read first; somebody who writes meanwhile makes it fail. */
  async #label(
    where: Where,
    own: Readonly<Record<string, string>>,
    signal: AbortSignal,
    tries = 2,
  ): Promise<void> {
    const { labels = {}, labelFingerprint = '' } = await this.#api.get(where, signal);
    try {
      await this.#api.setLabels(where, { ...labels, ...own }, labelFingerprint, signal);
    } catch (error) {
      const isOvertaken = error instanceof GoogleError && error.status === 412;
      if (!isOvertaken || tries <= 1) throw error;
      await this.#label(where, own, signal, tries - 1);
    }
  }
}
