/** How things look in answers. Fields: Compute Engine API reference v1. */
import { createHash } from 'node:crypto';

import { CloudError } from '../wire/service.ts';
import type { GceDisk } from './disks.ts';
import type { Failure, Instance } from './instance.ts';
import type { Operation } from './operations.ts';
import {
  type Image,
  type MachineSize,
  type Project,
  regionOf,
  type Subnetwork,
} from './project.ts';

type Json = Record<string, unknown>;

const root = 'https://www.googleapis.com/compute/v1';

export function instanceView({ id: project }: Project, instance: Instance): Json {
  const { launch } = instance;
  const { name, zone, size, subnetwork } = launch;
  const home = `${root}/projects/${project}/zones/${zone}`;
  const access = { name: 'External NAT', type: 'ONE_TO_ONE_NAT', natIP: instance.address };
  return {
    kind: 'compute#instance',
    id: instance.id,
    name,
    zone: home,
    machineType: `${home}/machineTypes/${size.name}`,
    status: instance.status,
    ...(instance.statusMessage !== undefined && { statusMessage: instance.statusMessage }),
    creationTimestamp: instance.createdAt,
    selfLink: `${home}/instances/${name}`,
    labels: instance.labels,
    labelFingerprint: fingerprintOf(instance),
    scheduling: { onHostMaintenance: launch.onHostMaintenance },
    ...(instance.maintenance && {
      resourceStatus: { upcomingMaintenance: instance.maintenance },
    }),
    metadata: { kind: 'compute#metadata', items: launch.metadata },
    advancedMachineFeatures: { enableNestedVirtualization: launch.nested },
    networkInterfaces: [
      {
        name: 'nic0',
        subnetwork: `${root}/projects/${project}/regions/${subnetwork.region}/subnetworks/${subnetwork.name}`,
        networkIP: instance.address,
        // one loopback address is both: there is no other way to the machine
        ...(launch.public && { accessConfigs: [access] }),
      },
    ],
    disks: launch.disks.map(({ autoDelete }, index) => ({ index, boot: index === 0, autoDelete })),
  };
}

/** Another one for other labels. */
export function fingerprintOf({ labels }: Instance): string {
  return createHash('sha256').update(JSON.stringify(labels)).digest('base64').slice(0, 12);
}

export function diskView({ id: project }: Project, disk: GceDisk): Json {
  const { name, zone, instance, labels } = disk;
  const home = `${root}/projects/${project}/zones/${zone}`;
  return {
    kind: 'compute#disk',
    name,
    zone: home,
    status: 'READY',
    selfLink: `${home}/disks/${name}`,
    labels,
    ...(instance !== undefined && { users: [`${home}/instances/${instance}`] }),
  };
}

export function operationView({ id: project }: Project, operation: Operation): Json {
  const { name, zone, type, target, targetId, status, progress, insertedAt, error } = operation;
  const home = `${root}/projects/${project}/zones/${zone}`;
  return {
    kind: 'compute#operation',
    name,
    operationType: type,
    zone: home,
    targetLink: `${home}/instances/${target}`,
    ...(targetId !== undefined && { targetId }),
    selfLink: `${home}/operations/${name}`,
    status,
    progress,
    insertTime: insertedAt,
    ...(error && failureView(error)),
  };
}

function failureView({ code, message, metric }: Failure): Json {
  const details = metric === undefined ? [] : [{ quotaInfo: { metricName: metric } }];
  return {
    error: { errors: [{ code, message, errorDetails: details }] },
    httpErrorStatusCode: code === 'QUOTA_EXCEEDED' ? 403 : 503,
    httpErrorMessage: message,
  };
}

export function sizeView(size: MachineSize): Json {
  const { name, vcpus, memoryMiB, architecture, sharedCpu = false } = size;
  return {
    name,
    guestCpus: vcpus,
    memoryMb: memoryMiB,
    architecture,
    isSharedCpu: sharedCpu,
    maximumPersistentDisks: 128,
  };
}

export function imageView({ project, name, family, architecture, created, labels }: Image): Json {
  return {
    name,
    family,
    architecture,
    status: 'READY',
    creationTimestamp: created,
    labels,
    selfLink: `${root}/projects/${project}/global/images/${name}`,
  };
}

export function subnetworkView({ id: project }: Project, subnetwork: Subnetwork): Json {
  const { name, region, network } = subnetwork;
  return {
    name,
    region: `${root}/projects/${project}/regions/${region}`,
    network: `${root}/projects/${project}/global/networks/${network}`,
    selfLink: `${root}/projects/${project}/regions/${region}/subnetworks/${name}`,
  };
}

export function zoneView({ id: project }: Project, name: string): Json {
  return { name, region: `${root}/projects/${project}/regions/${regionOf(name)}`, status: 'UP' };
}

/** One page of a list. Throws invalid for a page that cannot be. */
export function pageOf<Item>(
  all: readonly Item[],
  query: URLSearchParams,
): { items: readonly Item[]; nextPageToken?: string } {
  const most = Number(query.get('maxResults') ?? 500);
  const from = Number(query.get('pageToken') ?? 0);
  if (!Number.isInteger(most) || most < 1 || most > 500 || !Number.isInteger(from)) {
    throw new CloudError('invalid', `Invalid value for maxResults or pageToken.`);
  }
  const to = from + most;
  return { items: all.slice(from, to), ...(to < all.length && { nextPageToken: String(to) }) };
}

/** Of the filters there are, `name=value` and `labels.key=value`, all of which hold. Throws invalid for any other. */
export function filtered<T>(
  all: readonly T[],
  filter: string | null,
  factsOf: (one: T) => { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): T[] {
  const terms = (filter ?? '').split(/ AND | /).filter((term) => term !== '');
  const tests = terms.map((term) => {
    const [, field = '', value = ''] = /^([a-z0-9_.-]+)="?([^"]*)"?$/.exec(term) ?? [];
    if (field !== 'name' && !field.startsWith('labels.')) {
      throw new CloudError('invalid', `Invalid value for field 'filter': '${filter}'.`);
    }
    return (one: T): boolean => {
      const { name, labels } = factsOf(one);
      return (field === 'name' ? name : labels[field.slice('labels.'.length)]) === value;
    };
  });
  return all.filter((one) => tests.every((test) => test(one)));
}
