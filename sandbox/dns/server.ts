import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  streamDecode,
  streamEncode,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

import { answer, type ServedZone } from './answer.ts';

/** Largest answer over UDP without EDNS; a longer one is cut, so that the asker comes back over TCP. */
const udpLimit = 512;

/** Response codes in the header's flags; dns-packet reads them but has no field to write them. */
const codes = { NOERROR: 0, NXDOMAIN: 3, REFUSED: 5 } as const;

/** An authoritative DNS server on one loopback port, UDP and TCP, for zones that are asked for at each question. */
export class DnsServer {
  readonly #zones: () => readonly ServedZone[];
  readonly #tcp: Server;
  readonly #sockets = new Set<Socket>();
  #udp: UdpSocket | undefined;

  constructor(zones: () => readonly ServedZone[]) {
    this.#zones = zones;
    this.#tcp = createServer((socket) => this.#serve(socket));
  }

  /** `127.0.0.1:port`, once started. */
  get address(): string {
    return `127.0.0.1:${(this.#tcp.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    for (let tries = 10; ; tries--) {
      // oxlint-disable-next-line no-await-in-loop -- the next port is tried when this one is taken
      const started = await this.#listen().catch((error: unknown) => {
        if (tries === 0) throw error;
        return false;
      });
      if (started) return;
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      if (this.#udp) this.#udp.close(() => resolve());
      else resolve();
    });
    this.#udp = undefined;
    await new Promise((resolve) => this.#tcp.close(resolve));
  }

  /** Takes any free TCP port and then the UDP port of the same number, which may be taken. */
  async #listen(): Promise<boolean> {
    const tcp = Promise.withResolvers<void>();
    this.#tcp.once('error', tcp.reject).listen(0, '127.0.0.1', tcp.resolve);
    await tcp.promise;
    const socket = createSocket('udp4');
    socket.on('message', (message, { port, address }) => {
      const reply = this.#reply(message);
      if (reply) socket.send(encode(fitting(reply)), port, address);
    });
    const udp = Promise.withResolvers<void>();
    socket.once('error', udp.reject);
    socket.bind((this.#tcp.address() as AddressInfo).port, '127.0.0.1', udp.resolve);
    try {
      await udp.promise;
    } catch (error) {
      await new Promise((resolve) => this.#tcp.close(resolve));
      throw error;
    }
    this.#udp = socket;
    return true;
  }

  /** One question a message; a length of two bytes stands before each. */
  #serve(socket: Socket): void {
    let held: Buffer = Buffer.alloc(0);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk as Buffer]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const end = 2 + held.readUInt16BE(0);
        const reply = this.#reply(held.subarray(0, end), streamDecode);
        held = held.subarray(end);
        if (reply) socket.write(streamEncode(reply));
      }
    });
  }

  /** @returns undefined for what is no question; such a message gets no answer */
  #reply(message: Buffer, read: (bytes: Buffer) => Packet = decode): Packet | undefined {
    try {
      const query = read(message);
      const [question] = query.questions ?? [];
      if (query.type !== 'query' || !question) return undefined;
      const { code, answers, authorities } = answer(question, this.#zones());
      return {
        type: 'response',
        id: query.id ?? 0,
        flags: AUTHORITATIVE_ANSWER | codes[code],
        questions: [question],
        answers: [...answers],
        authorities: [...authorities],
      };
    } catch {
      return undefined;
    }
  }
}

function fitting(reply: Packet): Packet {
  if (encode(reply).length <= udpLimit) return reply;
  return { ...reply, flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE, answers: [], authorities: [] };
}
