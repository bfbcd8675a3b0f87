import type { Duration } from '#schemas/time/clock.ts';

import { timeToAnswer } from './deadline.ts';
import type { Hook, Hooks } from './hooks.ts';

/** What an address asks for. */
export interface Route {
  /** Without what follows a question mark. */
  readonly path: string;
  /** Undefined: nothing is served there. */
  readonly hook: Hook | undefined;
  /** How long a call may take. */
  readonly time: Duration;
}

/** The API server calls each hook by one address for as long as a configuration stands. */
const most = 32;

/** Which hook an address is of; told apart by case and by a slash at the end. */
export class Routes {
  readonly #hooks: ReadonlyMap<string, Hook>;
  /** By address: to take one apart costs as much as to judge a small Pod. */
  readonly #known = new Map<string, Route>();

  constructor(hooks: Hooks) {
    this.#hooks = new Map(Object.entries(hooks));
  }

  /** Paths that are served. */
  get paths(): string[] {
    return [...this.#hooks.keys()];
  }

  of(url: string): Route {
    return this.#known.get(url) ?? this.#read(url);
  }

  #read(url: string): Route {
    const [path = '', query = ''] = url.split('?', 2);
    const route = { path, hook: this.#hooks.get(path), time: timeToAnswer(query) };
    if (route.hook && this.#known.size < most) this.#known.set(url, route); // strangers' addresses are not kept
    return route;
  }
}
