import { parseArgs } from 'node:util';

import type { Cloud } from './objects.ts';
import { type Variant, variants } from './tally.ts';

/** What a person asked for that cannot be: told in a line, without a stack. */
export class UsageError extends Error {}

export const help = `npm run test:crash -- [options]

Kills the controller at every step of a machine's life and shows that nothing is left behind and nothing doubled.

  --cloud aws|gcp   one cloud; otherwise both
  --variant NAME    one of ${variants.join(', ')}; otherwise all
  --only TEXT       cases whose steps have this in their names, as "RunInstances"
  --json            all as data on standard output
  --help            this

What the variants are and how to read the end: docs/concepts/machine-life.md`;

export interface Asked {
  readonly clouds: readonly Cloud[];
  readonly variants: readonly Variant[];
  /** Empty: every case. */
  readonly only: string;
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws UsageError that tells what is allowed */
export function readArguments(args: readonly string[]): Asked {
  const { cloud, variant, ...rest } = parsed(args);
  if (rest.only?.trim() === '')
    throw new UsageError('--only: it needs a part of a step, as "RunInstances"');
  return {
    ...rest,
    only: rest.only ?? '',
    clouds: chosen('cloud', ['aws', 'gcp'], cloud),
    variants: chosen('variant', variants, variant),
  };
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        cloud: { type: 'string' },
        variant: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    const [what = ''] = (error as Error).message.split(/[.\n]/);
    throw new UsageError(`${what}; take --cloud, --variant, --only, --json or --help`, {
      cause: error,
    });
  }
}

/** What an argument names of a list; all of it when it names nothing. */
function chosen<T extends string>(
  argument: string,
  all: readonly T[],
  name: string | undefined,
): readonly T[] {
  const found = all.filter((one) => name === undefined || one === name);
  if (found.length > 0) return found;
  throw new UsageError(`--${argument} ${name}: there is none of this name; take ${all.join(', ')}`);
}
