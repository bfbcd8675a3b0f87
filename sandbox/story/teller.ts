import { stripVTControlCharacters } from 'node:util';

import type { Clock } from '#schemas/time/clock.ts';

import type { ClaimStory } from './timeline.ts';
import { draw, stepsOf, type Scene } from './view.ts';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** At most this often is a terminal drawn anew: ten pictures a second look like motion. */
const pace = 100;

/**
 * Tells the story: on a terminal one picture that moves, elsewhere a plain line for each thing that happens.
 * NO_COLOR is honoured.
 */
export class Teller {
  readonly #out: Output;
  readonly #clock: Clock;
  readonly #colour: boolean;
  readonly #told = new Map<string, number>();
  #drawn = 0;
  #waiting = false;
  #ended = false;
  #scene: () => Scene;

  constructor(out: Output, clock: Clock, scene: () => Scene, env: NodeJS.ProcessEnv = process.env) {
    this.#out = out;
    this.#clock = clock;
    this.#scene = scene;
    this.#colour = Boolean(out.isTTY) && !env['NO_COLOR'];
  }

  /** Something changed; it is shown soon. */
  update(): void {
    if (!this.#out.isTTY) return this.#tellNews();
    if (this.#waiting) return;
    this.#waiting = true;
    this.#clock.after(pace, () => {
      this.#waiting = false;
      if (!this.#ended) this.#redraw();
    });
  }

  /** A sentence that stays. */
  say(text: string): void {
    this.#erase();
    this.#out.write(`${text}\n`);
    if (this.#out.isTTY) this.#redraw();
  }

  /** Shows the picture a last time and leaves it there. */
  end(): void {
    if (!this.#out.isTTY) return;
    this.#redraw();
    this.#drawn = 0;
    this.#ended = true;
  }

  #redraw(): void {
    const width = this.#out.columns ?? 120;
    const picture = draw(this.#scene(), { colour: this.#colour, width });
    const lines = picture.map((line) => cut(line, width));
    this.#erase();
    this.#out.write(`${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  /** Goes back to where the last picture began and clears from there on. */
  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\u001b[${this.#drawn}A\u001b[0J`);
    this.#drawn = 0;
  }

  #tellNews(): void {
    for (const claim of this.#scene().claims) this.#tellNewsOf(claim);
  }

  #tellNewsOf(claim: ClaimStory): void {
    const told = this.#told.get(claim.name) ?? 0;
    if (claim.steps.length <= told) return;
    this.#told.set(claim.name, claim.steps.length);
    const { step } = claim.steps.at(-1) ?? { step: '' };
    if (step !== 'ready' && step !== 'gone') return;
    const where = `${claim.instanceType} ${claim.zone}`;
    this.#out.write(
      step === 'gone'
        ? `machine ${claim.name} is gone\n`
        : `machine ${claim.name} (${where}) is ready: ${stepsOf(claim)}\n`,
    );
  }
}

/** Cuts by what is seen; a coloured line that fits is left whole. */
function cut(line: string, width: number): string {
  return stripVTControlCharacters(line).length <= width
    ? line
    : `${stripVTControlCharacters(line).slice(0, width - 1)}…`;
}
