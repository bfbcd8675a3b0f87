import type { MachineError } from '../../errors.ts';
import { type Change, plainName, type RecordSet } from '../changes.ts';
import type { ZoneApi } from '../zone-writer.ts';
import { DnsRefusal, isRefusedUpdate, toDnsError } from './errors.ts';
import type { UpdateServer } from './server.ts';
import { absence, updateOf } from './update.ts';
import { answersIn, queryMessage, updateMessage, valueOf } from './wire.ts';

/** A question for an address is also answered with the CNAME that stands in its place. */
const askedTypes = ['A', 'AAAA', 'TXT'] as const;
const knownTypes = new Set<string>([...askedTypes, 'CNAME']);

/** Reads and updates of one zone. */
export class UpdateZone implements ZoneApi {
  /** The zone's name, without its final dot. */
  readonly id: string;
  readonly #server: UpdateServer;
  /** Texts as they were last read, ownership among them. */
  #texts: ReadonlyMap<string, RecordSet> = new Map();

  constructor(server: UpdateServer, id: string) {
    this.#server = server;
    this.id = id;
  }

  /** Before all questions an update of nothing is sent: only to that a server says for sure that it lacks the zone. */
  async read(names: readonly string[]): Promise<RecordSet[]> {
    const questions = names.flatMap((name) => askedTypes.map((type) => queryMessage(name, type)));
    const nothing = updateMessage(this.id, { prerequisites: [], updates: [] });
    const [zone, ...answers] = await this.#server.ask([nothing, ...questions]);
    const known = zone ? [zone] : [];
    for (const { status } of [...known, ...answers]) refuseUnless(status, ['NOERROR', 'NXDOMAIN']);
    const found = names.flatMap((name, index) => {
      const own = answers.slice(index * askedTypes.length, (index + 1) * askedTypes.length);
      return setsAt(
        name,
        own.map(({ message }) => message),
      );
    });
    const sets = await this.#real(found);
    const texts = sets.filter(({ type }) => type === 'TXT');
    this.#texts = new Map(texts.map((set) => [set.name, set]));
    return sets;
  }

  async change(changes: readonly Change[]): Promise<void> {
    await this.#update(updateMessage(this.id, updateOf(changes, this.#texts)));
  }

  isRefusal(error: unknown): boolean {
    return isRefusedUpdate(error);
  }

  toError(error: unknown, doing: string): MachineError {
    return toDnsError(error, `${doing} at ${this.#server.at}`);
  }

  async #update(message: Buffer): Promise<void> {
    const [answer] = await this.#server.ask([message]);
    refuseUnless(answer?.status, ['NOERROR']);
  }

  /**
   * A wildcard of the user's answers for every name below it; a prerequisite looks at the zone itself, so an update
   * without changes tells what is really there.
   */
  async #real(found: readonly RecordSet[]): Promise<RecordSet[]> {
    if (found.length === 0) return [];
    const probes = found.map(({ name, type }) =>
      updateMessage(this.id, { prerequisites: [absence(name, type)], updates: [] }),
    );
    const answers = await this.#server.ask(probes);
    for (const { status } of answers) refuseUnless(status, ['NOERROR', 'YXRRSET']);
    return found.filter((_, index) => answers[index]?.status === 'YXRRSET');
  }
}

/** Record sets of a name in the answers to questions about it. */
function setsAt(name: string, messages: readonly Buffer[]): RecordSet[] {
  const records = messages
    .flatMap(answersIn)
    .filter((record) => plainName(record.name) === name && knownTypes.has(record.type));
  const byType = Map.groupBy(records, ({ type }) => type);
  return [...byType].map(([type, own]) => {
    const values = [...new Set(own.map((record) => valueOf(record as { data: unknown })))];
    const ttl = (own[0] as { ttl?: number }).ttl ?? 0;
    return { name, type, ttl, values };
  });
}

function refuseUnless(status: string | undefined, accepted: readonly string[]): void {
  if (status !== undefined && !accepted.includes(status)) throw new DnsRefusal(status);
}
