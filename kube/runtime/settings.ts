import type { Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

/** The settings of a process cannot be used; each line of the message names one, what it says and what it may say. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings';
  readonly code = 'KPU301';

  constructor(problems: readonly string[]) {
    super(`${problems.join('\n')} (KPU301)`);
  }
}

/**
 * Reads settings from the environment, as upstream does, and remembers what is wrong with them, so that a start that
 * fails names every mistake at once. An empty value counts as absent.
 */
export class SettingsReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly #problems: string[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  text(name: string, fallback?: string): string {
    const value = this.#env[name] || fallback;
    if (value === undefined) this.#problems.push(`${name} must be set`);
    return value ?? '';
  }

  /** Comma-separated; spaces around the parts do not count. */
  list(name: string, fallback = ''): string[] {
    return this.text(name, fallback)
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** A TCP port; 0 lets the system choose. */
  port(name: string, fallback: number): number {
    const text = this.text(name, String(fallback));
    const value = Number(text);
    if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
    return this.#refuse(fallback, `${name} is "${text}"; it must be a port from 0 to 65535`);
  }

  duration(name: string, fallback: string): Duration {
    const text = this.text(name, fallback);
    try {
      return parseDuration(text);
    } catch {
      return this.#refuse(0, `${name} is "${text}"; it must be a duration such as 10s or 1m30s`);
    }
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const text = this.text(name, fallback);
    const value = values.find((one) => one === text);
    if (value !== undefined) return value;
    return this.#refuse(fallback, `${name} is "${text}"; it may be ${values.join(', ')}`);
  }

  flag(name: string, fallback: boolean): boolean {
    return this.oneOf(name, ['true', 'false'], fallback ? 'true' : 'false') === 'true';
  }

  /**
   * What is written in a form of its own; absent: undefined.
   *
   * @param parse  throws an error that says what is wrong and what may stand there
   */
  parsed<T>(name: string, parse: (text: string) => T): T | undefined {
    const text = this.#env[name];
    if (!text) return undefined;
    try {
      return parse(text);
    } catch (error) {
      return this.#refuse(
        undefined,
        `${name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** @throws InvalidSettings when anything that was read is wrong */
  finish(): void {
    if (this.#problems.length > 0) throw new InvalidSettings(this.#problems);
  }

  #refuse<T>(value: T, problem: string): T {
    this.#problems.push(problem);
    return value;
  }
}
