import { ConnectionError } from '#kube/client/errors.ts';
import { Metrics } from '#kube/metrics.ts';
import { ListIncomplete, Throttled } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { type Instant, minutes } from '#schemas/time/clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { nodeClaim } from '../../testing/objects.ts';
import { LeftoverCollector } from '../collector.ts';
import { type Found, kinds, type Kind, type Outcome, type Place } from '../place.ts';
import { Telling } from '../telling.ts';

interface Thing extends Found {
  readonly kind: Kind;
  /** Looks of its place that showed it without its claim, in this process. */
  looks: number;
  goneSince: number;
}

/** A place with things, whose lists and removals fail as they are told to. */
class Shelf implements Place {
  readonly kind: Kind;
  readonly name: string;
  readonly needs?: Kind;
  things: Thing[] = [];
  fails: 'list' | 'removal' | undefined;
  readonly removed: Thing[] = [];

  constructor(kind: Kind) {
    this.kind = kind;
    this.name = `all of kind ${kind}`;
    if (kind === 'node') this.needs = 'instance';
  }

  async list(): Promise<readonly Found[]> {
    if (this.fails === 'list') throw new ListIncomplete('page 2');
    return [...this.things];
  }

  async remove({ id }: Found): Promise<Outcome> {
    if (this.fails === 'removal') throw new Throttled('slower');
    this.removed.push(...this.things.filter((one) => one.id === id));
    this.things = this.things.filter((one) => one.id !== id);
    return 'gone';
  }
}

/** What may happen, in any order and as often as it likes. */
export type Happening =
  | { readonly is: 'comes' | 'ends'; readonly claim: number }
  | { readonly is: 'makes'; readonly claim: number; readonly kind: Kind }
  | { readonly is: 'fails'; readonly kind: Kind; readonly what: Shelf['fails'] }
  | { readonly is: 'claims cannot be read' | 'restart' }
  | { readonly is: 'round'; readonly after: number };

/** A cluster whose claims come and go, with places where what was made for them stands, and a collector. */
export class Story {
  /** What should never be. */
  readonly wrongs: string[] = [];
  readonly #memory = memoryContext();
  readonly shelves = kinds.map((one) => new Shelf(one));
  readonly #life = new Map<number, string>();
  #claims = 0;
  #ids = 0;
  #collector = this.#start();

  /** What an event does; every removal is judged on the spot. */
  async happen(one: Happening): Promise<void> {
    const { client } = this.#memory;
    if (one.is === 'comes' && !this.#life.has(one.claim)) {
      const made = await client.create(nodeClaims, nodeClaim(`c-${++this.#claims}`));
      this.#life.set(one.claim, made.metadata.uid);
    }
    if (one.is === 'ends') this.#end(one.claim);
    if (one.is === 'makes') this.#make(one.claim, one.kind);
    if (one.is === 'fails') this.#shelf(one.kind).fails = one.what;
    if (one.is === 'restart') this.#restart();
    if (one.is === 'claims cannot be read') await this.#blind();
    if (one.is === 'round') {
      await this.#memory.clock.forward(minutes(one.after));
      await this.round();
    }
  }

  async round(): Promise<void> {
    const { clock } = this.#memory;
    const now = clock.now();
    for (const shelf of this.shelves) shelf.removed.length = 0;
    for (const thing of this.#unclaimed()) {
      if (this.#shelf(thing.kind).fails !== 'list') thing.looks += 1;
    }
    await this.#collector.collect(new AbortController().signal);
    for (const thing of this.shelves.flatMap(({ removed }) => removed)) {
      this.#judge(thing, now);
    }
  }

  get claimed(): Thing[] {
    return this.#all.filter((thing) => this.#isAlive(thing));
  }

  mend(): void {
    for (const shelf of this.shelves) shelf.fails = undefined;
  }

  async pass(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await this.#memory.clock.forward(minutes(5));
      // oxlint-disable-next-line no-await-in-loop
      await this.round();
    }
  }

  get #all(): Thing[] {
    return this.shelves.flatMap(({ things }) => things);
  }

  get left(): Thing[] {
    return this.#all;
  }

  #judge(thing: Thing, now: Instant): void {
    this.#wrongIf(this.#isAlive(thing), thing, 'went with its claim alive');
    this.#wrongIf(thing.looks < 2, thing, 'went at first sight');
    this.#wrongIf(!(now - thing.goneSince >= minutes(5)), thing, 'went early');
    const before = this.shelves.slice(0, kinds.indexOf(thing.kind));
    const seen = before.filter(({ fails }) => fails !== 'list').flatMap(({ things }) => things);
    const isBehind = seen.some(({ claimUid }) => claimUid === thing.claimUid);
    this.#wrongIf(isBehind, thing, 'went before what goes first');
    const isUnproven = thing.kind === 'node' && this.#shelf('instance').fails === 'list';
    this.#wrongIf(isUnproven, thing, 'went without proof');
  }

  #wrongIf(isWrong: boolean, { kind, id }: Thing, how: string): void {
    if (isWrong) this.wrongs.push(`${kind} ${id} ${how}`);
  }

  #unclaimed(): Thing[] {
    return this.#all.filter((thing) => !this.#isAlive(thing));
  }

  #isAlive({ claimUid }: Found): boolean {
    return [...this.#life.values()].includes(claimUid);
  }

  #end(number: number): void {
    const uid = this.#life.get(number);
    const { client, clock } = this.#memory;
    const found = client.all(nodeClaims).find(({ metadata }) => metadata.uid === uid);
    if (!found) return;
    client.remove(nodeClaims, { name: found.metadata.name });
    this.#life.delete(number);
    const made = this.#all.filter(({ claimUid }) => claimUid === uid);
    for (const thing of made) thing.goneSince = clock.now();
  }

  #make(number: number, of: Kind): void {
    const claimUid = this.#life.get(number);
    if (claimUid === undefined) return; // nothing is made for a claim that is not there
    const id = `thing-${++this.#ids}`;
    const thing = { id, claimUid, kind: of, about: '', looks: 0, goneSince: Number.NaN };
    this.#shelf(of).things.push(thing);
  }

  #restart(): void {
    for (const thing of this.#all) thing.looks = 0;
    this.#collector = this.#start();
  }

  async #blind(): Promise<void> {
    const before = this.#all.length;
    const away = new ConnectionError({ verb: 'GET', path: '/nodeclaims' }, new Error('reset'));
    this.#memory.client.fail(({ plural }) => plural === 'nodeclaims', away);
    const failed = this.#collector.collect(new AbortController().signal).catch((error) => error);
    if ((await failed) !== away) this.wrongs.push('it went on without the claims');
    if (this.#all.length !== before) this.wrongs.push('something went without the claims');
  }

  #shelf(of: Kind): Shelf {
    return this.shelves[kinds.indexOf(of)]!;
  }

  #start(): LeftoverCollector {
    const { context } = this.#memory;
    const telling = new Telling(context, new Metrics());
    return new LeftoverCollector(context, async () => this.shelves, telling);
  }
}
