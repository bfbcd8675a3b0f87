import { spawn } from 'node:child_process';

import type { Question, Verdict } from './questions.ts';

interface Answer {
  verdict?: boolean;
  error?: string;
}

/**
 * Puts questions to Kubernetes' own CEL environment; in groups of one expression, since each is compiled anew when it
 * changes.
 *
 * @param program path of sandbox/celjudge
 * @returns an answer for each question, in order
 */
export async function judged(program: string, questions: readonly Question[]): Promise<Answer[]> {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  child.stdin.on('error', () => {}); // told by the exit code
  child.stdin.end(questions.map(asLine).join(''));
  const output = await child.stdout.setEncoding('utf8').toArray();
  const code = await ended.promise;
  if (code !== 0) throw new Error(`celjudge ended with ${code ?? 'a signal'}`);
  return output
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

function asLine(
  { expression, bindings }: Question,
  index: number,
  all: readonly Question[],
): string {
  const isSame = all[index - 1]?.expression === expression;
  return `${JSON.stringify(isSame ? { bindings } : { expression, bindings })}\n`;
}

export function verdictIn({ verdict }: Answer): Verdict {
  return verdict ?? 'error';
}
