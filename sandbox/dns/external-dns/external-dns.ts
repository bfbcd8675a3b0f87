import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { dnsEndpoints, isRead, type DnsEndpoint } from '#machine/dns/externaldns/endpoint.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { milliseconds, type Duration } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import type { ServedSet, ServedZone } from '../answer.ts';

const interval: Duration = milliseconds(500);
const ours = '"heritage=external-dns,external-dns/owner=sandbox"';

/**
 * Plays external-dns with `--source=crd --policy=sync --registry=txt` for one zone: it writes what DNSEndpoints of all
 * namespaces ask for, marks what it has written by a TXT beside it, and neither changes nor removes what has none.
 *
 * Source: external-dns, source/crd.go, and its registry txt as of v0.18. It looks each half second, the real one each
 * minute.
 */
export class ExternalDnsStandIn {
  readonly #client: KubeClient;
  readonly #zone: string;
  /** By `name type`. */
  readonly #sets = new Map<string, ServedSet>();
  readonly #end = new AbortController();
  #running: Promise<void> | undefined;

  constructor(client: KubeClient, zone: string) {
    this.#client = client;
    this.#zone = zone;
  }

  get served(): ServedZone {
    return { name: this.#zone, sets: [...this.#sets.values()] };
  }

  /** Writes a record by hand, without any mark. */
  put(name: string, address: string): void {
    this.#put({ name, type: 'A', ttl: 60, values: [address] });
  }

  /** Takes away whatever has the name. */
  delete(name: string): void {
    for (const key of this.#sets.keys()) if (key.startsWith(`${name} `)) this.#sets.delete(key);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** @throws what kept it from going on */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    const clock = new SystemClock();
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.#look();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await clock.sleep(interval, signal).catch(() => {}); // the loop sees the abort
    }
  }

  async #look(): Promise<void> {
    const { items } = await this.#client.list(dnsEndpoints);
    const wanted = items.flatMap(({ spec }) => spec.endpoints).map(setOf);
    const names = new Set(wanted.map(keyOf));
    for (const [key, set] of this.#sets) {
      if (this.#isMine(set) && !names.has(key)) this.#take(set);
    }
    for (const set of wanted) {
      if (!this.#sets.has(keyOf(set)) || this.#isMine(set)) this.#write(set);
    }
    await Promise.all(items.filter((one) => !isRead(one)).map(async (one) => this.#tell(one)));
  }

  #isMine(set: ServedSet): boolean {
    return set.type !== 'TXT' && this.#sets.get(keyOf(markOf(set)))?.values[0] === ours;
  }

  #write(set: ServedSet): void {
    this.#put(set);
    this.#put(markOf(set));
  }

  #take(set: ServedSet): void {
    this.#sets.delete(keyOf(set));
    this.#sets.delete(keyOf(markOf(set)));
  }

  #put(set: ServedSet): void {
    this.#sets.set(keyOf(set), set);
  }

  async #tell(endpoint: Live<DnsEndpoint>): Promise<void> {
    const { generation = 0 } = endpoint.metadata;
    const read = { ...endpoint, status: { observedGeneration: generation } };
    await this.#client
      .replace(dnsEndpoints, read, { subresource: 'status' })
      .catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error; // it is read again
      });
  }
}

function setOf({ dnsName, recordType, targets, recordTTL }: DnsEndpoint['spec']['endpoints'][0]) {
  return { name: dnsName, type: recordType, ttl: recordTTL ?? 300, values: targets };
}

/** The name of a mark begins with the type of what it marks. */
function markOf({ name, type }: ServedSet): ServedSet {
  return { name: `${type.toLowerCase()}-${name}`, type: 'TXT', ttl: 300, values: [ours] };
}

function keyOf({ name, type }: ServedSet): string {
  return `${name} ${type}`;
}
