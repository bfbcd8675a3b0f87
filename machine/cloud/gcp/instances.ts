import type { Instance } from '../../machine.ts';
import { imageOf, tagsOf } from './labels.ts';
import { type GceInstance, lastOf, type UpcomingMaintenance } from './resources.ts';

/**
 * A stopped or suspended instance is not gone: it stays, and its disks are paid for. STOPPING is said of a stop and of
 * a delete alike; after a stop it becomes TERMINATED, which is Compute Engine's word for stopped.
 *
 * Source: Compute Engine docs, "Compute Engine instance lifecycle".
 */
const states: Readonly<Record<string, Instance['state']>> = {
  PENDING: 'pending',
  PROVISIONING: 'pending',
  STAGING: 'pending',
  RUNNING: 'running',
  REPAIRING: 'stopping',
  PENDING_STOP: 'stopping',
  STOPPING: 'terminating',
  DEPROVISIONING: 'terminating',
  SUSPENDING: 'stopping',
  SUSPENDED: 'stopped',
  STOPPED: 'stopped',
  TERMINATED: 'stopped',
};

/**
 * An instance in our words; its id is its name. A state that is unknown to us counts as pending: not yet running, and
 * not gone.
 */
export function instanceOf(instance: GceInstance): Instance {
  const { id: serial, name = '', status = '', networkInterfaces = [] } = instance;
  const zone = lastOf(instance.zone);
  const [network] = networkInterfaces;
  return {
    id: name,
    ...(serial !== undefined && { serial }),
    state: states[status] ?? 'pending',
    instanceType: lastOf(instance.machineType),
    zone,
    region: regionOf(zone),
    imageId: imageOf(instance),
    privateAddress: network?.networkIP,
    publicAddress: network?.accessConfigs?.find(({ natIP }) => natIP !== undefined)?.natIP,
    launchedAt: instance.creationTimestamp,
    stateReason: reasonOf(instance),
    tags: tagsOf(instance),
  };
}

/** Until its resources are there an instance may vanish again: a stockout is told by its operation alone. */
export function isTentative({ status }: GceInstance): boolean {
  return status === 'PROVISIONING' || status === 'PENDING';
}

/**
 * What Google will do to the host of an instance that does not live through it. One that moves to another host while it
 * runs is left alone, with its guests; bare metal is not moved.
 *
 * Source: Compute Engine docs, "Monitor and plan for a host maintenance event"; API reference, upcomingMaintenance.
 */
export function announcedFor(instance: GceInstance): string | undefined {
  const coming = instance.resourceStatus?.upcomingMaintenance;
  const isDue = ['PENDING', 'ONGOING'].includes(coming?.maintenanceStatus ?? '');
  const livesOn = instance.scheduling?.onHostMaintenance !== 'TERMINATE';
  return !coming || !isDue || livesOn ? undefined : inWords(coming);
}

function inWords({
  type = 'UNKNOWN',
  maintenanceReasons = [],
  windowStartTime,
}: UpcomingMaintenance) {
  const when = windowStartTime === undefined ? '' : `, not before ${windowStartTime}`;
  const why = maintenanceReasons.length === 0 ? '' : ` (${maintenanceReasons.join(', ')})`;
  return `Google Cloud has announced ${type} maintenance of its host${when}${why}`;
}

/** `europe-west1-b` → `europe-west1` */
export function regionOf(zone: string): string {
  return zone.replace(/-[a-z]+$/, '');
}

function reasonOf({ status = '', statusMessage }: GceInstance): string | undefined {
  if (statusMessage !== undefined && statusMessage !== '') return statusMessage;
  return states[status] === 'stopped' || states[status] === 'stopping' ? status : undefined;
}
