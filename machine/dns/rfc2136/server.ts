import { randomInt } from 'node:crypto';

import { seconds, type Clock } from '#schemas/time/clock.ts';

import { DnsRefusal, statuses } from './errors.ts';
import { exchange, largestMessage, type ServerAddress } from './exchange.ts';
import { sign, tsigErrors, verify, type TsigKey } from './tsig.ts';

/** A signature needs about this much behind its message: two names and a digest of 64 bytes. */
const signatureSize = 400;
const within = seconds(10);

export interface UpdateServerParts {
  readonly address: ServerAddress;
  /** Asked for each exchange, so that a key that was replaced is used from the next one on. */
  readonly key: () => Promise<TsigKey>;
  readonly clock: Clock;
  /** Milliseconds since 1970 in the real world, which signatures are of. */
  readonly realNow?: () => number;
}

/** A signed answer. */
export interface ServerAnswer {
  /** As errors.ts has it: NOERROR, NXDOMAIN, … */
  readonly status: string;
  /** The server has the zone itself. */
  readonly isAuthoritative: boolean;
  readonly message: Buffer;
}

/** The server that holds zones, over TCP; every message to it and from it is signed. */
export class UpdateServer {
  readonly #parts: UpdateServerParts;

  constructor(parts: UpdateServerParts) {
    this.#parts = parts;
  }

  /** `ns1.example.com:53`, for messages. */
  get at(): string {
    const { server, port } = this.#parts.address;
    return `${server}:${port}`;
  }

  /**
   * @param messages  questions and updates; they are carried out in any order
   * @throws DnsRefusal when a signature is refused, ours or the server's, or a message is too large
   * @throws ServerSilent and errors of the system when the server cannot be asked
   */
  async ask(messages: readonly Buffer[]): Promise<ServerAnswer[]> {
    if (messages.some(({ length }) => length > largestMessage - signatureSize)) {
      throw new DnsRefusal('TOOLARGE');
    }
    const { address, clock } = this.#parts;
    const key = await this.#parts.key();
    const first = randomInt(0x1_00_00);
    const asked = messages.map((message, index) =>
      sign(withId(message, (first + index) & 0xff_ff), key, this.#now()),
    );
    const signed = asked.map((one) => one.signed);
    const answers = await exchange(address, signed, { clock, within });
    return answers.map((answer, index) => {
      return answerOf(answer, verify(answer, key, this.#now(), asked[index]?.mac));
    });
  }

  #now(): number {
    const { realNow = Date.now } = this.#parts;
    return Math.floor(realNow() / 1000);
  }
}

/** @throws DnsRefusal unless the answer is the server's; only its complaints about our signature may lack one */
function answerOf(message: Buffer, { isSigned, error }: ReturnType<typeof verify>): ServerAnswer {
  const complaint = tsigErrors.get(error);
  if (complaint !== undefined) throw new DnsRefusal(complaint);
  const code = message.readUInt8(3) & 0x0f;
  const status = statuses[code] ?? `RCODE${code}`;
  if (!isSigned) throw new DnsRefusal(status === 'SERVFAIL' ? status : 'UNSIGNED');
  return { status, isAuthoritative: (message.readUInt8(2) & 0x04) !== 0, message };
}

function withId(message: Buffer, id: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt16BE(id, 0);
  return copy;
}
