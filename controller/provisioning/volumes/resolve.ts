import type { PodVolumes } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { ukcVolume } from '#schemas/names.ts';

import { driverOf, driverOfProvisioner, inlineVolume } from './drivers.ts';
import { faultOf, unreadable, type Found, type Trouble } from './fault.ts';
import { both, placesOfClass, placesOfVolume, termsOf, type Places } from './places.ts';
import { mountsOf, type Mount, type Storage } from './storage.ts';

/** What was found out about the volumes of a Pod, and on what that rests. */
export interface Resolved {
  readonly volumes: PodVolumes;
  /** Objects that were asked for, those included that are not there: {@link claimName} and the like. */
  readonly asked: readonly string[];
}

export const claimName = (key: string): string => `claim ${key}`;
export const volumeName = (name: string): string => `volume ${name}`;
export const className = (name: string): string => `class ${name}`;

/**
 * Where the volumes of a Pod can be, who mounts them, and which of them each driver attaches. Pure.
 *
 * @returns undefined for a Pod without volumes of any storage
 */
export function resolve(pod: Live<Pod>, storage: Storage): Resolved | undefined {
  const { volumes = [] } = pod.spec ?? {};
  if (volumes.length === 0) return undefined;
  const mounts = mountsOf(pod);
  const inline = volumes.flatMap((volume) => inlineVolume(volume) ?? []);
  if (mounts.length + inline.length === 0) return undefined;
  if (mounts.length > 0 && storage.forbidden.length > 0)
    return { volumes: { ...nowhere, trouble: unreadable(storage.forbidden) }, asked: [] };
  const found = mounts.map((mount) => lookUp(mount, storage));
  const asked = found.flatMap(askedOf);
  const drivers = [
    ...inline.map(({ driver, id }) => [driver, id] as const),
    ...found.map((one) => [driverOfClaim(one), keyOf(one.mount)] as const),
  ];
  const places = found.map(placesOfClaim).reduce(both, undefined);
  const trouble = found.map(faultOf).find((fault) => fault) ?? apart(places, found);
  return {
    volumes: {
      nodes: termsOf(places ?? []),
      attached: attachedBy(drivers),
      drivers: [...new Set(drivers.flatMap(([driver]) => driver ?? []))].toSorted(),
      ...(trouble && { trouble }),
    },
    asked,
  };
}

const nowhere = { nodes: [], attached: {} } as const;

function lookUp(mount: Mount, storage: Storage): Found {
  const claim = storage.claim(keyOf(mount));
  const { volumeName: volume, storageClassName = '' } = claim?.spec ?? {};
  return {
    mount,
    claim,
    volume: volume ? storage.volume(volume) : undefined,
    storageClass: claim && !volume ? storage.storageClass(storageClassName) : undefined,
  };
}

function keyOf({ namespace, claim }: Mount): string {
  return `${namespace}/${claim}`;
}

function askedOf({ mount, claim }: Found): string[] {
  const { volumeName: volume, storageClassName = '' } = claim?.spec ?? {};
  const further = volume ? volumeName(volume) : className(storageClassName);
  return claim ? [claimName(keyOf(mount)), further] : [claimName(keyOf(mount))];
}

/** Claims of Kraftlet's own class are its own, whatever their volume says. */
function driverOfClaim({ claim, volume, storageClass }: Found): string | undefined {
  if (claim?.spec?.storageClassName === ukcVolume) return ukcVolume;
  if (volume) return driverOf(volume);
  return storageClass && driverOfProvisioner(storageClass.provisioner);
}

function placesOfClaim({ volume, storageClass }: Found): Places {
  if (volume) return placesOfVolume(volume);
  return storageClass && placesOfClass(storageClass);
}

function attachedBy(
  drivers: readonly (readonly [driver: string | undefined, volume: string | undefined])[],
): Record<string, string[]> {
  const attached = new Map<string, Set<string>>(); // a driver may be called like a property of each object
  for (const [driver, volume] of drivers) {
    if (driver === undefined || volume === undefined) continue;
    attached.set(driver, (attached.get(driver) ?? new Set()).add(volume));
  }
  return Object.fromEntries([...attached].map(([driver, all]) => [driver, [...all]]));
}

/** Volumes that no node can have together: there, or in two zones. */
function apart(places: Places, found: readonly Found[]): Trouble | undefined {
  if (places === undefined || places.length > 0) return undefined;
  const claims = found.map(({ mount }) => `"${mount.claim}"`).join(', ');
  const message =
    found.length > 1
      ? `its volume claims ${claims} cannot be had on one node: no place is allowed for all of them; make one of them anew where the others are`
      : `its volume claim ${claims} can be had on no node: its volume or its class allows no place`;
  return { message, code: 'KPU353' };
}
