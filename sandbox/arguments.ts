import { parseArgs } from 'node:util';

export interface Arguments {
  /** End after the story, with its verdict as exit code. */
  readonly once: boolean;
  /** The timeline as one line of JSON at the end, and nothing else on standard output. */
  readonly json: boolean;
  readonly help: boolean;
}

export const usage = `npm run sandbox [-- options]

Starts a real Kubernetes control plane, a cloud on loopback and the operator, and tells how Pods get machines.

  --once   end after the story, with exit code 0 if all went well and 1 if not
  --json   print the timeline as one line of JSON at the end
  --help   this text
`;

const flag = { type: 'boolean', default: false } as const;
const options = { once: flag, json: flag, help: { ...flag, short: 'h' } } as const;

/** @returns the error that names the argument that is not known */
export function readArguments(argv: readonly string[]): Arguments | Error {
  try {
    const { once, json, help } = parseArgs({ args: [...argv], options }).values;
    return { once, json, help };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
