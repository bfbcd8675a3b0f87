import { whyNot, type Miss } from './explain.ts';
import type { Template } from './machines/template.ts';
import { Lanes } from './places/lanes.ts';
import { NodeRoom } from './places/node-room.ts';
import { OpenClaim } from './places/open-claim.ts';
import type { Place } from './places/place.ts';
import { ClaimWriter } from './places/planned-claim.ts';
import type { Probe } from './places/probe.ts';
import { Search, type Lookout } from './places/search.ts';
import type { Queued, Ways } from './queue.ts';
import type { Plan, Refusal } from './solver.ts';
import { record } from './topology/record.ts';
import type { World } from './world.ts';

/** A plan, without what is known before. */
export type Placements = Omit<Plan, 'zones'>;

/**
 * One pass over all Pods: each group goes, Pod by Pod, to the first place that takes it: a node in sight, a machine that
 * is planned, a new machine of the first pool that can make one. A group that gets stuck is asked again once something
 * has opened a domain for it.
 */
export class Pass {
  readonly #world: World;
  readonly #places: Place[];
  readonly #planned: Lanes;
  readonly #lookout: Lookout;
  readonly #claims: OpenClaim[] = [];
  readonly #unschedulable = new Map<string, readonly Refusal[]>();
  #dropped = 0;

  constructor(world: World) {
    this.#world = world;
    this.#places = [...world.rooms];
    const keys = world.topology.keys;
    this.#planned = new Lanes(keys);
    const nodes = new Lanes(keys);
    for (const room of world.rooms) nodes.add(room);
    this.#lookout = { all: this.#places, nodes, planned: this.#planned };
  }

  /** How many wishes all Pods together went without. */
  get dropped(): number {
    return this.#dropped;
  }

  run(): Placements {
    const turns = this.#world.queue.map((queued) => new Turn(queued, this.#world.knowsPods));
    for (const turn of this.#goAround(turns)) this.#refuse(turn);
    const writer = new ClaimWriter(this.#world.slots);
    return {
      claims: this.#claims.map((claim) => writer.write(claim)),
      nominations: this.#nominations(),
      unschedulable: this.#unschedulable,
    };
  }

  /** Asks every group until nothing moves any more. Returns those that still have Pods without a place. */
  #goAround(turns: readonly Turn[]): readonly Turn[] {
    let waiting = turns;
    for (let isMoving = true; isMoving && waiting.length > 0;) {
      isMoving = false;
      for (const turn of waiting) if (this.#placeAll(turn)) isMoving = true;
      waiting = waiting.filter(({ isDone }) => !isDone);
    }
    return waiting;
  }

  /** Whether any of its Pods found a place. */
  #placeAll(turn: Turn): boolean {
    const { next } = turn;
    while (!turn.isDone && this.#place(turn)) turn.next += 1;
    return turn.next > next;
  }

  /** Wishes hold for as long as they can; see pods/relaxation.ts. */
  #place(turn: Turn): boolean {
    const { pod, ways } = turn;
    for (let way = 0; way < ways.variants.length; way++) {
      const search = turn.search(way);
      if (search.isExhausted) continue;
      const place = search.find(this.#lookout) ?? this.#open(search);
      if (place) {
        this.#settle(place, pod, search.probe);
        this.#dropped += ways.dropped[way]!;
        return true;
      }
      search.fail();
    }
    return false;
  }

  #settle(place: Place, pod: string, probe: Probe): void {
    const before = place.where;
    place.take(pod, probe);
    if (place.where !== before) this.#planned.move(place, before);
    record(place, probe.variant);
  }

  /** A claim of the first pool that can make one; it is kept only if the Pod goes there. */
  #open(search: Search): OpenClaim | undefined {
    for (const template of this.#world.templates) {
      const claim = new OpenClaim(this.#places.length, template, this.#world.isLenient);
      if (claim.check(search.probe) !== 'fits') continue;
      this.#places.push(claim);
      this.#claims.push(claim);
      this.#planned.add(claim);
      return claim;
    }
    return undefined;
  }

  #nominations(): Map<string, string> {
    const rooms = this.#places.filter((place) => place instanceof NodeRoom);
    return new Map(rooms.flatMap(({ node, pods }) => pods.map((pod) => [pod, node.name] as const)));
  }

  #refuse({ rest, queued }: Turn): void {
    const refusals = this.#world.templates.map((template) => ({
      pool: template.name,
      ...this.#miss(template, queued),
    }));
    for (const pod of rest) this.#unschedulable.set(pod, refusals);
  }

  #miss(template: Template, { trouble, ways, needs }: Queued): Miss {
    return trouble ?? whyNot(template, ways.last(), needs, this.#world.slots);
  }
}

/** A group while its Pods are placed. */
class Turn {
  readonly queued: Queued;
  readonly #searches: Search[] = [];
  readonly #knowsPods: boolean;
  next = 0;

  constructor(queued: Queued, knowsPods: boolean) {
    this.queued = queued;
    this.#knowsPods = knowsPods;
  }

  get ways(): Ways {
    return this.queued.ways;
  }

  search(way: number): Search {
    return (this.#searches[way] ??= this.#newSearch(way));
  }

  get pod(): string {
    return this.queued.group.pods[this.next] ?? '';
  }

  get rest(): readonly string[] {
    return this.queued.group.pods.slice(this.next);
  }

  get isDone(): boolean {
    return this.next >= this.queued.group.pods.length;
  }

  #newSearch(way: number): Search {
    const { ways, needs } = this.queued;
    return new Search(ways.variants[way]!(), needs, this.#knowsPods);
  }
}
