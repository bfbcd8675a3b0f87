import { parseArgs } from 'node:util';

import { type CloudName, cloudNames } from '#schemas/instances/cloud.ts';

export interface Arguments {
  /** End after the story, with its verdict as exit code. */
  readonly once: boolean;
  /** The timeline as one line of JSON at the end, and nothing else on standard output. */
  readonly json: boolean;
  readonly help: boolean;
  /** Run the bundles that the image runs, not the sources. */
  readonly dist: boolean;
  /** Whose machines the story is about. */
  readonly cloud: CloudName;
}

export const usage = `npm run sandbox [-- options]

Starts a real Kubernetes control plane, a cloud on loopback and the operator, and tells how Pods get machines.

  --once   end after the story, with exit code 0 if all went well and 1 if not
  --json   print the timeline as one line of JSON at the end
  --cloud  aws (as it is without this) or gcp: whose machines the story is about
  --dist   run what the image runs, bundled anew, instead of the sources
  --help   this text
`;

const flag = { type: 'boolean', default: false } as const;
const options = {
  once: flag,
  json: flag,
  dist: flag,
  help: { ...flag, short: 'h' },
  cloud: { type: 'string', default: 'aws' },
} as const;

/** @returns the error that names the argument that is not known */
export function readArguments(argv: readonly string[]): Arguments | Error {
  try {
    const { once, json, dist, help, cloud: named } = parseArgs({ args: [...argv], options }).values;
    const cloud = cloudNames.find((one) => one === named);
    if (cloud === undefined)
      return new Error(`--cloud ${named}: there are ${cloudNames.join(', ')}`);
    return { once, json, dist, help, cloud };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
