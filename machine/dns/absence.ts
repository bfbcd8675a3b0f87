import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';

import { decode, encode, RECURSION_DESIRED } from 'dns-packet';

import { seconds, type Duration } from '#schemas/time/clock.ts';

const timeout = 2000;

/**
 * For how long a server that remembers answers goes on saying that a name is not there: the lesser of the TTL that the
 * zone's SOA comes with and its MINIMUM, counted down by who remembers it (RFC 2308 §3 and §5).
 *
 * @param server  `10.0.0.2` or `10.0.0.2:5353`
 * @returns undefined where the name is there, or the server does not say
 */
export async function absenceAt(
  server: string,
  name: string,
  signal: AbortSignal,
): Promise<Duration | undefined> {
  const answer = await ask(server, name, signal);
  return answer && absenceIn(answer);
}

function absenceIn(answer: Buffer): Duration | undefined {
  try {
    const { answers = [], authorities = [] } = decode(answer);
    const soa = answers.length === 0 && authorities.find(({ type }) => type === 'SOA');
    if (!soa || soa.type !== 'SOA') return undefined;
    return seconds(Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0));
  } catch {
    return undefined; // no DNS at all
  }
}

async function ask(server: string, name: string, signal: AbortSignal): Promise<Buffer | undefined> {
  const { address, port } = partsOf(server);
  const id = randomInt(1, 65_535);
  const question = { type: 'A', name } as const;
  const query = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question] });
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const giveUp = (): void => resolve(undefined);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  limit.addEventListener('abort', giveUp, { once: true });
  socket.once('error', giveUp);
  socket.on('message', (answer) => {
    if (answer.length >= 12 && answer.readUInt16BE(0) === id) resolve(answer);
  });
  socket.send(query, port, address);
  return promise.finally(() => {
    limit.removeEventListener('abort', giveUp);
    socket.close();
  });
}

/** As node:dns takes and gives servers: `[2001:db8::1]:53` where an IPv6 address has a port. */
function partsOf(server: string): { address: string; port: number } {
  const [, address = server, port = '53'] =
    /^\[([^\]]+)\](?::(\d+))?$/.exec(server) ?? /^([^:]+)(?::(\d+))?$/.exec(server) ?? [];
  return { address, port: Number(port) };
}
