/** Which drivers mount the volumes of a Pod, and whether a node has them. */
import type { Code } from '#schemas/errors/codes.ts';
import { ukcVolume } from '#schemas/names.ts';

import type { PoolInSight, Refusal } from '../solver.ts';

type Miss = Omit<Refusal, 'pool'>;

/** The first driver that is needed and not there; undefined when all are, or when a node has any. */
export function unmounted(
  needed: readonly string[],
  there: readonly string[] | undefined,
): string | undefined {
  return there && needed.find((driver) => !there.includes(driver));
}

/** Why machines of a pool do not mount the volumes of a Pod, and what would have them do so. */
export function driverMiss(
  needed: readonly string[],
  { pool, drivers }: PoolInSight,
): Miss | undefined {
  const driver = unmounted(needed, drivers);
  if (driver === undefined) return undefined;
  const { name } = pool.spec.template.spec.nodeClassRef;
  const [message, code] = textOf(driver, `machines of UnikraftNodeClass ${name}`);
  return { reason: 'Unsupported', message, code };
}

function textOf(driver: string, machines: string): [string, Code] {
  if (driver === ukcVolume)
    return [
      `has a volume of class ${ukcVolume}, which would live and die with its machine, so ${machines} take none; ` +
        'use a class of storage outside of the machine',
      'KPU354',
    ];
  if (driver.startsWith(builtIn))
    return [
      `has a volume of ${driver}, which is no CSI driver, and ${machines} mount volumes through CSI drivers alone; ` +
        'use a class of storage with such a driver',
      'KPU354',
    ];
  return [
    `has a volume of the CSI driver ${driver}, which ${machines} do not mount; ` +
      `register it there: spec.kraftlet.values.csi.plugins["${driver}"]`,
    'KPU354',
  ];
}

/** Storage that Kubernetes itself mounts, as volumes on the disk of a node or on an NFS server. */
const builtIn = 'kubernetes.io/';
