import type { Clock } from '#schemas/time/clock.ts';

import { CreateError, NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { until } from '../../until.ts';
import { plainName } from '../changes.ts';
import { ZonedDns } from '../zoned-dns.ts';
import { DnsRefusal, toDnsError } from './errors.ts';
import type { ServerAddress } from './exchange.ts';
import { type ServerAnswer, UpdateServer } from './server.ts';
import type { TsigKey } from './tsig.ts';
import { answersIn, classes, dataBytes, queryMessage, types, updateMessage } from './wire.ts';
import { UpdateZone } from './zone.ts';

export interface Rfc2136DnsParts {
  /** The zone's primary server. */
  readonly address: ServerAddress;
  /** @throws MachineError when there is none to be had */
  readonly key: () => Promise<TsigKey>;
  readonly clock: Clock;
  readonly realNow?: () => number;
}

/**
 * Names of machines on any server that takes dynamic updates (RFC 2136): BIND, Knot, PowerDNS, Active Directory's with
 * a key. A zone's id is its name.
 */
export class Rfc2136Dns extends ZonedDns {
  readonly #server: UpdateServer;

  constructor(parts: Rfc2136DnsParts) {
    super(parts.clock);
    this.#server = new UpdateServer(parts);
  }

  override async resolveZone(
    zone: string,
    _: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const name = plainName(zone);
    const doing = `Looking for zone ${name} at ${this.#server.at}`;
    const [answer] = await this.#ask(doing, queryMessage(name, 'SOA'), signal);
    const isApex =
      answer?.status === 'NOERROR' &&
      answer.isAuthoritative &&
      answersIn(answer.message).some((one) => one.type === 'SOA' && plainName(one.name) === name);
    if (!isApex) throw this.#notHere(answer, name);
    await this.#proveWritable(name, signal);
    return name;
  }

  protected override zone(zoneID: string): UpdateZone {
    return new UpdateZone(this.#server, zoneID);
  }

  /** What a server says to a question about a zone that it lacks is of many kinds; what it means is always this. */
  #notHere(answer: ServerAnswer | undefined, zone: string): NodeClassError {
    return new NodeClassError(
      faults.zoneNotFound,
      `${this.#server.at} does not hold a zone ${zone} (${answer?.status ?? 'no answer'}); name its primary server ` +
        'in spec.dns.server, or correct spec.dns.zone.',
    );
  }

  /** Deletes a record that does not exist: the right to write is judged, and the zone stays as it is. */
  async #proveWritable(zone: string, signal: AbortSignal): Promise<void> {
    const absent = {
      name: `_kpu-check.${zone}`,
      type: types.TXT,
      class: classes.NONE,
      ttl: 0,
      data: dataBytes('TXT', '"never written"'),
    };
    const message = updateMessage(zone, { prerequisites: [], updates: [absent] });
    const doing = `Trying to write to zone ${zone} at ${this.#server.at}`;
    const [answer] = await this.#ask(doing, message, signal);
    const status = answer?.status ?? 'NOERROR';
    if (status !== 'NOERROR') throw asNodeClass(toDnsError(new DnsRefusal(status), doing));
  }

  async #ask(doing: string, message: Buffer, signal: AbortSignal): Promise<ServerAnswer[]> {
    try {
      return await until(this.#server.ask([message]), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw asNodeClass(toDnsError(error, doing));
    }
  }
}

/** What only a person can help about makes the node class unready, with the reason. */
function asNodeClass(error: Error): Error {
  const isForPeople = error instanceof Unauthorized || error instanceof CreateError;
  if (!isForPeople) return error;
  return new NodeClassError(faults.zoneForbidden, error.message, { cause: error });
}
