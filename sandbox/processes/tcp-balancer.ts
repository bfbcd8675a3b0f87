import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Backend {
  readonly host: string;
  readonly port: number;
}

/**
 * Stands before the replicas of a server as a Service would: each new connection goes to the next backend in turn,
 * and to the one after it when that one cannot be reached. The API server reaches the webhook through it, since
 * Endpoints cannot hold loopback addresses.
 *
 * It asks for the backends anew at each connection, so give it the ones that are ready at that moment.
 */
export class TcpBalancer {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Listens on 127.0.0.1. @param port default: any that is free */
  static async start(backends: () => readonly Backend[], port = 0): Promise<TcpBalancer> {
    const sockets = new Set<Socket>();
    const turn = { next: 0 };
    const server = createServer({ pauseOnConnect: true }, (client) => {
      keep(sockets, client);
      void join(client, inTurn(backends(), turn), sockets);
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
    await promise;
    return new TcpBalancer(server, sockets);
  }

  /** Breaks what is open and stops listening. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}

function inTurn(backends: readonly Backend[], turn: { next: number }): readonly Backend[] {
  if (backends.length === 0) return [];
  const first = turn.next++ % backends.length;
  return [...backends.slice(first), ...backends.slice(0, first)];
}

/** Joins the client with the first backend that takes the connection; with none, the client is cut off. */
async function join(
  client: Socket,
  candidates: readonly Backend[],
  sockets: Set<Socket>,
): Promise<void> {
  for (const backend of candidates) {
    // oxlint-disable-next-line no-await-in-loop -- the next one only when this one refuses
    const upstream = await open(backend);
    if (!upstream) continue;
    keep(sockets, upstream);
    tie(client, upstream);
    tie(upstream, client);
    if (client.destroyed) upstream.destroy();
    return;
  }
  client.destroy();
}

async function open({ host, port }: Backend): Promise<Socket | undefined> {
  const socket = connect({ host, port });
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
  socket.once('connect', () => resolve(socket)).once('error', () => resolve(undefined));
  return promise;
}

/** What comes from one goes to the other; the end of one is the end of the other. */
function tie(from: Socket, to: Socket): void {
  from.pipe(to);
  from.once('close', () => to.destroy());
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
}
