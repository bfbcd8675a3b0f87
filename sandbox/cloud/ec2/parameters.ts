import { CloudError } from '../wire/service.ts';

/**
 * Parameters of the EC2 Query protocol: a form whose names are paths, `TagSpecification.1.Tag.2.Key`.
 * Lists count from one.
 */
export class Parameters {
  readonly #all: ReadonlyMap<string, string>;
  readonly #prefix: string;

  constructor(all: ReadonlyMap<string, string>, prefix = '') {
    this.#all = all;
    this.#prefix = prefix;
  }

  static ofForm(body: string): Parameters {
    return new Parameters(new Map(new URLSearchParams(body)));
  }

  text(path: string): string | undefined {
    return this.#all.get(this.#prefix + path);
  }

  /** Throws MissingParameter. */
  required(path: string): string {
    const value = this.text(path);
    if (value !== undefined && value !== '') return value;
    throw new CloudError('MissingParameter', `The request must contain the parameter ${path}`);
  }

  flag(path: string): boolean | undefined {
    const value = this.text(path);
    return value === undefined ? undefined : value === 'true';
  }

  /** Throws InvalidParameterValue for anything but a whole number from `least` to `most`. */
  count(path: string, least: number, most: number): number | undefined {
    const value = this.text(path);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    const range = `Expecting a value between ${least} and ${most}`;
    throw new CloudError(
      'InvalidParameterValue',
      `Value ( ${value} ) for parameter ${path} is invalid. ${range}`,
    );
  }

  /** `InstanceId.1`, `InstanceId.2`, … */
  list(path: string): string[] {
    const values: string[] = [];
    for (let value = this.text(`${path}.1`); value !== undefined;) {
      values.push(value);
      value = this.text(`${path}.${values.length + 1}`);
    }
    return values;
  }

  /** The structures of a list: `Filter.1.…`, `Filter.2.…`, … */
  structures(path: string): Parameters[] {
    const found: Parameters[] = [];
    for (let at = this.#at(path, 1); this.#any(at); at = this.#at(path, found.length + 1)) {
      found.push(new Parameters(this.#all, at));
    }
    return found;
  }

  /** Everything as one text in a fixed order, without the names in `except`: equal texts are equal requests. */
  fingerprint(except: readonly string[]): string {
    const kept = [...this.#all].filter(([name]) => !except.includes(name));
    return JSON.stringify(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  toJSON(): Record<string, string> {
    return Object.fromEntries(this.#all);
  }

  #at(path: string, index: number): string {
    return `${this.#prefix}${path}.${index}.`;
  }

  #any(prefix: string): boolean {
    return [...this.#all.keys()].some((name) => name.startsWith(prefix));
  }
}
