import { nodes } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import { catalogWith, World } from '../../testing/world.ts';
import { ebs, StorageWorld } from './storage.ts';

/** A cluster in memory with a provisioner, storage, and Nodes of others. */
export class VolumeWorld extends World {
  readonly storage = new StorageWorld(this.client);

  /** With machines that mount volumes of one driver. */
  startWithDriver() {
    return this.start({}, { catalog: catalogWith(ebs) });
  }

  /** A Node of others with room, in a zone. */
  seedNodeOfOthers(name: string, zone = '1a'): void {
    this.client.seed(nodes, {
      metadata: { name, labels: { [labels.hostname]: name, [labels.zone]: zone } },
      status: {
        allocatable: { cpu: '64', memory: '256Gi', pods: '100' },
        conditions: [this.isTrue('Ready')],
      },
    });
  }

  /** Of each claim, where it says one. */
  get zones(): (readonly string[] | 'any')[] {
    return this.claims.map(
      ({ spec }) => spec.requirements.find(({ key }) => key === labels.zone)?.values ?? 'any',
    );
  }

  /** Why the Pod has no node, each time that it was told. */
  toldOf(pod: string): string[] {
    return this.notesOf('FailedScheduling')
      .filter(({ object }) => object.metadata?.name === pod)
      .map(({ message }) => message);
  }
}
