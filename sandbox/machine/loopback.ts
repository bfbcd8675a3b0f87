import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Addresses of a block: 127.64.0.0/10 is cut into 4096 blocks of 1024. */
const blockSize = 1024;
const blocks = 4096;
/** On the first address of a block somebody listens here for as long as it uses the block. */
const claimPort = 45_231;

/**
 * Loopback addresses for machines, so that each can listen on the port that its user data names. On Linux all of
 * 127.0.0.0/8 is there without setting anything up. Worlds that run side by side hold different blocks.
 */
export class LoopbackBlock {
  readonly #block: number;
  readonly #claim: Server;
  #next = 1;

  private constructor(block: number, claim: Server) {
    this.#block = block;
    this.#claim = claim;
  }

  /** Takes a block that nobody holds. */
  static async claim(): Promise<LoopbackBlock> {
    for (let tries = 20; tries > 0; tries--) {
      const block = randomInt(blocks);
      // oxlint-disable-next-line no-await-in-loop -- the next block is tried when this one is held
      const claim = await listen(addressIn(block, 0)).catch(() => undefined);
      if (claim) return new LoopbackBlock(block, claim);
    }
    throw new Error(
      'No loopback addresses can be had in 127.64.0.0/10: the sandbox needs Linux, where the whole of 127.0.0.0/8 is local.',
    );
  }

  /** The next address; after 1023 it begins anew, leaving out those in `used`. */
  next(used: ReadonlySet<string>): string {
    for (let tries = 1; tries < blockSize; tries++) {
      const address = addressIn(this.#block, this.#next);
      this.#next = (this.#next % (blockSize - 1)) + 1;
      if (!used.has(address)) return address;
    }
    throw new Error(`All ${blockSize - 1} addresses of this sandbox are in use.`);
  }

  async release(): Promise<void> {
    await new Promise((resolve) => this.#claim.close(resolve));
  }
}

function addressIn(block: number, index: number): string {
  const number = block * blockSize + index;
  return `127.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

async function listen(address: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(claimPort, address, resolve);
  await promise;
  server.unref();
  return server;
}
