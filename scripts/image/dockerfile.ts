/**
 * What the tests read of a Dockerfile and its .dockerignore.
 *
 * Source: Dockerfile reference, "FROM", "COPY" and ".dockerignore file": the last pattern that matches a path, or a folder
 * that it is in, decides.
 */

import type { Container } from '#schemas/kubernetes/core.ts';

/** Of what runs the image, the part that says how. */
export interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: { readonly containers: Container[] } } };
}

/** Whether Node or its allocator reads a variable of this name. */
export function isSettingOfNode(name: string): boolean {
  return name === 'NODE_OPTIONS' || name.startsWith('MALLOC_');
}

export interface Instruction {
  /** Upper case. */
  readonly keyword: string;
  /** What follows, on one line. */
  readonly words: string;
}

export interface Stage {
  /** Absent for the last one, which becomes the image. */
  readonly name: string | undefined;
  /** As written: `node:24.22.3-trixie-slim`. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** @param text  each instruction begins a line; a line that ends in `\` goes on in the next */
export function readDockerfile(text: string): Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  const instructions = [...lines.matchAll(/^(\w+) +(.+)$/gm)].map(
    ([, keyword = '', words = '']) => ({
      keyword: keyword.toUpperCase(),
      words,
    }),
  );
  const starts = instructions.flatMap(({ keyword }, index) => (keyword === 'FROM' ? [index] : []));
  return starts.map((start, index) => {
    const [, base = '', name] =
      /^(?:--platform=\S+ +)?(\S+)(?: +AS +(\S+))?$/i.exec(instructions[start]?.words ?? '') ?? [];
    return { base, name, instructions: instructions.slice(start + 1, starts[index + 1]) };
  });
}

/** The words of a stage's instructions of one kind. */
export function wordsOf({ instructions }: Stage, keyword: string): string[] {
  return instructions.filter((one) => one.keyword === keyword).map(({ words }) => words);
}

export interface Copy {
  /** The stage that it is taken from; absent: the folder that is built. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

export function copiesOf(stage: Stage): Copy[] {
  return wordsOf(stage, 'COPY').map((words) => {
    const parts = words.split(/ +/);
    const from = parts.find((part) => part.startsWith('--from='))?.slice('--from='.length);
    const paths = parts.filter((part) => !part.startsWith('--'));
    return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
  });
}

/** Which files of the folder a build is given. */
export class BuildContext {
  readonly #rules: readonly { readonly isKept: boolean; readonly pattern: RegExp }[];
  /** Paths that are named to be kept. */
  readonly named: readonly string[];

  /** @param ignore  the text of a .dockerignore */
  constructor(ignore: string) {
    const lines = ignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    this.#rules = lines.map((line) => ({
      isKept: line.startsWith('!'),
      pattern: patternOf(line.replace(/^!/, '')),
    }));
    this.named = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  }

  /** @param path  of a file or folder, relative, with slashes */
  has(path: string): boolean {
    const parts = path.split('/');
    const selfAndParents = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const last = this.#rules.findLast(({ pattern }) =>
      selfAndParents.some((one) => pattern.test(one)),
    );
    return last?.isKept ?? true;
  }

  /** Whether there may be something in this folder that a build is given. */
  mayHaveIn(folder: string): boolean {
    return this.has(folder) || this.named.some((path) => path.startsWith(`${folder}/`));
  }
}

/** `**` is any number of folders, `*` any part of a name. */
function patternOf(glob: string): RegExp {
  const spelled = glob.replaceAll(/[.+^$(){}|[\]\\]/g, String.raw`\$&`);
  const pattern = spelled.replaceAll(/\*\*\/|\*/g, (one) => (one === '*' ? '[^/]*' : '(?:.*/)?'));
  return new RegExp(`^${pattern}$`);
}
