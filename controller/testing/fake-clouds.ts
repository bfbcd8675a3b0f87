import type { CloudProvider, ResolvedPlacement, SizeOnSale } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import type { NodeClassError } from '#machine/errors.ts';
import type { KraftletReleases } from '#machine/kraftlet/release.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { Clouds } from '../clouds.ts';

/**
 * A cloud, a zone and a registry in which everything is found, until a test says otherwise. It records what it was
 * asked; machines are beyond it.
 */
export class FakeClouds implements Clouds {
  /** The image that selector terms find now. */
  newestImage = 'ami-1';
  subnets = [{ id: 'subnet-a', zone: 'eu-central-1a', zoneID: 'euc1-az2' }];
  /** Images that are gone. */
  readonly goneImages = new Map<string, Error>();
  sizes: SizeOnSale[] = [];
  /** What the next calls fail with, until it is taken away. */
  readonly failures: { resolve?: Error; rehearse?: Error; zone?: Error; chart?: Error } = {};
  /** What the cloud says that it would refuse, without being sure. */
  doubt: NodeClassError | undefined;
  readonly calls: { resolve: UnikraftNodeClassSpec[]; zone: string[]; chart: string[] } = {
    resolve: [],
    zone: [],
    chart: [],
  };

  async for(): Promise<CloudProvider> {
    return {
      name: 'aws',
      resolve: async (spec) => this.#resolve(spec),
      rehearse: async () => {
        if (this.failures.rehearse) throw this.failures.rehearse;
        return this.doubt;
      },
      sizes: async () => this.sizes,
      subnets: async ({ subnets }) => subnets,
      launch: beyond,
      find: beyond,
      snapshot: beyond,
      parts: { list: beyond, delete: beyond },
      terminate: beyond,
    };
  }

  async dns(): Promise<DnsProvider> {
    return {
      resolveZone: async (zone) => {
        this.calls.zone.push(zone);
        if (this.failures.zone) throw this.failures.zone;
        return `id-of-${zone}`;
      },
      upsert: beyond,
      remove: beyond,
    };
  }

  readonly releases: KraftletReleases = {
    isBusy: false,
    render: beyond,
    probe: async ({ chart }) => {
      this.calls.chart.push(chart);
      if (this.failures.chart) throw this.failures.chart;
    },
  };

  async #resolve(spec: UnikraftNodeClassSpec): Promise<ResolvedPlacement> {
    this.calls.resolve.push(spec);
    if (this.failures.resolve) throw this.failures.resolve;
    const id = spec.image.id ?? this.newestImage;
    const gone = this.goneImages.get(id);
    if (gone) throw gone;
    return {
      image: { id, architecture: 'amd64', rootDeviceName: '/dev/xvda' },
      subnets: this.subnets,
      securityGroups: ['sg-1'],
    };
  }
}

async function beyond(): Promise<never> {
  throw new Error('this fake makes no machines');
}
