import { seconds } from '#schemas/time/clock.ts';

import { placesOf } from './changes.ts';
import type { CrashWorld } from './crash-world.ts';
import { Gate } from './gate/gate.ts';
import { Machines } from './machines.ts';
import type { Cloud } from './objects.ts';
import { Operators } from './operators.ts';
import { casesOf, outagesOf, stepsIn, told, type Case, type Phase, type Step } from './steps.ts';
import {
  collectedIn,
  doubledIn,
  launchedIn,
  leaksIn,
  type Outcome,
  type Variant,
} from './tally.ts';
import { playWave, tellPlayed, type Act, type Crash, type Played } from './wave.ts';

export interface VariantOptions {
  readonly cloud: Cloud;
  readonly variant: Variant;
  readonly tell: (line: string) => void;
}

const outage = seconds(60);
let subjects = 0;

/** All cases of a variant on one cloud, with controllers of its own. */
export class VariantRun {
  readonly #world: CrashWorld;
  readonly #options: VariantOptions;
  readonly #machines: Machines;
  readonly #operators: Operators;
  readonly #launchedBefore: number;
  readonly #begun: number;
  #crashes = 0;
  /** Which of its two places the node class is in. */
  #place = 0;

  private constructor(world: CrashWorld, options: VariantOptions) {
    this.#world = world;
    this.#options = options;
    this.#machines = new Machines(world, options.cloud);
    this.#operators = new Operators(world, { standby: options.variant === 'takeover' });
    this.#launchedBefore = launchedIn(world, options.cloud);
    this.#begun = world.clock.now();
  }

  static async start(world: CrashWorld, options: VariantOptions): Promise<VariantRun> {
    const isOutage = options.variant === 'api-away';
    world.gate = new Gate(world.subjects, isOutage ? 'api-server' : 'all');
    const run = new VariantRun(world, options);
    await run.#operators.start();
    await world.apply(placesOf(options.cloud)[0]);
    await world.untilUsable(options.cloud);
    return run;
  }

  /** Watches some machines from their Pods to their end, undisturbed. */
  async record(count = 2): Promise<Step[]> {
    const names = Array.from({ length: count }, () => this.#subject());
    const launched = await this.#watch(names, 'launch');
    const removed = await this.#watch(names, 'removal');
    for (const name of names) await this.#machines.forget(name);
    return [...stepsIn(launched, 'launch'), ...stepsIn(removed, 'removal')];
  }

  async #watch(names: readonly string[], phase: Phase) {
    const { met } = this.#world.gate;
    const from = met.length;
    const acts = names.map((subject): Act => ({ subject, phase }));
    const undisturbed = await playWave(this.#world, this.#machines, acts, async () => {});
    const stuck = undisturbed.find((one) => one.stuck !== undefined);
    if (stuck) throw new Error(`${tellPlayed(stuck)}\n${await this.#operators.lastWords()}`);
    await this.#world.clock.sleep(seconds(3)); // what is told of it comes later
    return names.map((name) => met.slice(from).filter(({ subject }) => subject === name));
  }

  /** Plays every case, each with a machine of its own in that phase, and counts what is left in the end. */
  async play(cases: readonly Case[]): Promise<Outcome> {
    const waiting = { launch: [...of(cases, 'launch')], removal: [...of(cases, 'removal')] };
    const tried = new Map<Case, number>();
    const ends = { stopped: [] as Case[], once: [] as Case[], unmet: [] as Case[] };
    const stuck: string[] = [];
    let up: string[] = [];
    while (waiting.launch.length + waiting.removal.length + up.length > 0) {
      const together = togetherIn(this.#options.variant);
      const leaving = up.map((subject) => act(subject, 'removal', waiting.removal.shift()));
      const more = Math.max(waiting.launch.length, waiting.removal.length);
      const coming = Array.from({ length: Math.min(together, more) }, () =>
        act(this.#subject(), 'launch', waiting.launch.shift()),
      );
      const played = await playWave(
        this.#world,
        this.#machines,
        [...coming, ...leaving],
        this.#crash,
      );
      this.#tell(played);
      stuck.push(...played.filter((one) => one.stuck !== undefined).map(tellPlayed));
      ends.stopped.push(...casesIn(played.filter(({ met }) => met)));
      ends.once.push(...casesIn(played.filter(({ once }) => once)));
      for (const missed of missedIn(played)) {
        const tries = (tried.get(missed) ?? 0) + 1;
        tried.set(missed, tries);
        if (tries < triesOf(missed)) waiting[missed.phase].push(missed);
        else ends.unmet.push(missed);
      }
      for (const { subject } of leaving) await this.#machines.forget(subject);
      up = played.filter(isUp).map((one) => one.act.subject);
    }
    return this.#outcome(cases, stuck, ends);
  }

  async stop(): Promise<void> {
    this.#world.gate.thaw();
    await this.#operators.stop();
  }

  async #outcome(
    cases: readonly Case[],
    stuck: readonly string[],
    { stopped, once, unmet }: Readonly<Record<'stopped' | 'once' | 'unmet', readonly Case[]>>,
  ): Promise<Outcome> {
    const { cloud, variant } = this.#options;
    return {
      cloud,
      variant,
      cases: cases.length,
      crashes: this.#crashes,
      machines: this.#machines.made,
      launched: launchedIn(this.#world, cloud) - this.#launchedBefore,
      doubled: doubledIn(this.#world.gate),
      stuck,
      stopped: stopped.length,
      double: cases.filter(({ stops }) => stops.length > 1).length,
      once: once.map(toldCase),
      unmet: unmet.filter(({ always }) => always).map(toldCase),
      notSeen: unmet.filter(({ always }) => !always).map(toldCase),
      leaks: await leaksIn(this.#world),
      collected: collectedIn(this.#world.gate),
      seconds: Math.round((this.#world.clock.now() - this.#begun) / 1000),
    };
  }

  readonly #crash: Crash = async (between) => {
    this.#crashes += 1;
    const { gate } = this.#world;
    const thaw = async (): Promise<void> => {
      gate.thaw();
      between();
    };
    switch (this.#options.variant) {
      case 'restart':
        return this.#operators.crash(thaw);
      case 'takeover':
        return this.#operators.crash(thaw, this.#crashes === 1);
      case 'changed':
        return this.#operators.crash(async () => {
          await thaw();
          await this.#world.apply(this.#otherPlace());
        });
      case 'api-away':
        this.#world.setApiServerAway(true);
        await this.#world.clock.sleep(outage);
        await thaw();
        return this.#world.setApiServerAway(false);
    }
  };

  #otherPlace() {
    this.#place = 1 - this.#place;
    const [first, second] = placesOf(this.#options.cloud);
    return this.#place === 0 ? first : second;
  }

  #subject(): string {
    subjects += 1;
    return this.#world.subjects.add(subjects);
  }

  #tell(played: readonly Played[]): void {
    const { tell, cloud, variant } = this.#options;
    const stuck = played.filter((one) => one.stuck !== undefined);
    const at = Math.round((this.#world.clock.now() - this.#begun) / 1000);
    const met = played.filter((one) => one.met).length;
    const aimed = played.filter((one) => one.act.case).length;
    tell(
      `${cloud}, ${variant}: ${met} of ${aimed} machines stopped at their steps, ${stuck.length} stuck, ${at} s`,
    );
    for (const one of casesIn(played.filter(({ once }) => once)))
      tell(`nothing to stop at a second time: ${toldCase(one)}`);
    for (const one of missedIn(played)) tell(`not met: ${toldCase(one)}`);
    for (const one of stuck) tell(tellPlayed(one));
  }
}

/** Cases of a variant. */
export function casesFor(variant: Variant, steps: readonly Step[]): Case[] {
  return variant === 'api-away' ? outagesOf(steps) : casesOf(steps);
}

function of(cases: readonly Case[], phase: Phase): Case[] {
  return cases.filter((one) => one.phase === phase);
}

function act(subject: string, phase: Phase, one: Case | undefined): Act {
  return { subject, phase, case: one };
}

/** Machines that are brought to their stops together; an outage takes its minute however many share it. */
function togetherIn(variant: Variant): number {
  return variant === 'api-away' ? 64 : 24;
}

/** Whether a step comes may depend on what else goes on. */
function triesOf({ always }: Case): number {
  return always ? 3 : 2;
}

function missedIn(played: readonly Played[]): Case[] {
  return casesIn(played.filter(({ met, once }) => !met && !once));
}

function casesIn(played: readonly Played[]): Case[] {
  return played.flatMap(({ act: { case: one } }) => one ?? []);
}

function isUp({ act: { phase }, stuck }: Played): boolean {
  return phase === 'launch' && stuck === undefined;
}

function toldCase(one: Case): string {
  return `${one.phase}: ${told(one)}`;
}
