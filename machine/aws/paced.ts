import type { Clock } from '#schemas/time/clock.ts';

import { isConnectionTrouble } from '../connection-trouble.ts';
import { Pacing } from '../pacing.ts';
import type { Reach } from '../reach.ts';
import { isThrottled } from './errors.ts';

/** What is used of an SDK client's middleware stack; each client types its own. */
interface Stack {
  addRelativeTo(
    // oxlint-disable-next-line typescript/no-explicit-any -- the SDK's own types differ by client
    middleware: any,
    place: { name: string; relation: 'after'; toMiddleware: string },
  ): void;
}

type Next = (call: unknown) => Promise<unknown>;

/**
 * Gives every call of a client its turn, each attempt anew, by action: launches that are refused for their rate do not
 * hold up terminations. Nothing is sent to where nobody answers.
 */
export function pace<Client extends { readonly middlewareStack: Stack }>(
  client: Client,
  clock: Clock,
  reach: Reach,
): Client {
  const byAction = new Map<string, Pacing>();
  const pacingOf = (action: string): Pacing => {
    const known = byAction.get(action) ?? new Pacing(clock);
    byAction.set(action, known);
    return known;
  };
  const inTurn =
    (next: Next, { commandName = '' }: { commandName?: string }) =>
    async (call: unknown): Promise<unknown> => {
      const pacing = pacingOf(commandName);
      const turn = await pacing.turn();
      reach.turn();
      try {
        const answer = await next(call);
        reach.answered();
        pacing.passed(turn);
        return answer;
      } catch (error) {
        if (isThrottled(error)) pacing.refused(turn);
        else if (isAnswer(error)) pacing.passed(turn);
        if (isAnswer(error)) reach.answered();
        else if (isConnectionTrouble(error)) reach.failed(turn.at, error as Error);
        throw error;
      }
    };
  client.middlewareStack.addRelativeTo(inTurn, {
    name: 'inTurn',
    relation: 'after',
    toMiddleware: 'retryMiddleware',
  });
  return client;
}

/** A refusal is an answer; credentials that could not be had are neither. */
function isAnswer(error: unknown): boolean {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode !== undefined;
}
