import { readLedger, usedBy } from '#controller/reservations/ledger.ts';
import { reservationsLabel } from '#controller/reservations/names.ts';
import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { silentLogger } from '#kube/log.ts';
import { isLive } from '#sandbox/cloud/ec2/instance.ts';
import { readUserData } from '#sandbox/machine/user-data.ts';
import type { World } from '#sandbox/world/world.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

const namespace = 'karpenter-unikraft';

/**
 * What machines take, looked at all along and not only in the end: each change of the reservations, and the cloud's
 * instances fifty times a second. In vCPUs that Pods may have, as limits count them.
 */
export class UseOverTime {
  readonly #world: World;
  readonly #end = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #looks = 0;
  #most = { instances: 0, reservations: 0 };

  private constructor(world: World, ledger: string | undefined) {
    this.#world = world;
    this.#timer = setInterval(() => this.#look(), 20);
    const ledgers = new SharedInformer(world.client, configMaps, {
      clock: new SystemClock(),
      log: silentLogger,
      namespace,
      labelSelector: reservationsLabel,
      ...(ledger !== undefined && { fieldSelector: `metadata.name=${ledger}` }),
    });
    const read = (ledger: ConfigMap): void => this.#atLeast({ reservations: reservedIn(ledger) });
    ledgers.subscribe({ add: read, update: read });
    void ledgers.run(this.#end.signal);
  }

  /** @param ledger  the ConfigMap whose reservations are looked at; default: each, by itself */
  static start(world: World, ledger?: string): UseOverTime {
    return new UseOverTime(world, ledger);
  }

  /** How often the cloud was looked at. */
  get looks(): number {
    return this.#looks;
  }

  /** The most that ever was, since the start. */
  get most(): Readonly<{ instances: number; reservations: number }> {
    return this.#most;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#end.abort();
  }

  #look(): void {
    this.#looks += 1;
    const live = this.#world.cloud.ec2.instances.all.filter(isLive);
    const vcpus = live.flatMap(({ launch }) =>
      readUserData(launch.userData).users.map(({ quotas }) => quotas.vcpus),
    );
    this.#atLeast({ instances: vcpus.reduce((sum, one) => sum + one, 0) });
  }

  #atLeast({ instances = 0, reservations = 0 }: Partial<typeof this.most>): void {
    this.#most = {
      instances: Math.max(this.#most.instances, instances),
      reservations: Math.max(this.#most.reservations, reservations),
    };
  }
}

function reservedIn(configMap: ConfigMap): number {
  const ledger = readLedger(configMap);
  if (!ledger) throw new Error(`${configMap.metadata?.name} is no ledger`);
  return Number(usedBy(ledger.values())['cpu'] ?? '0');
}
