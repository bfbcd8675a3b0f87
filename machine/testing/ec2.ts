import { expect } from 'vitest';

import type { MachineError } from '../errors.ts';
import { type Call, type Reply, type Wire, xml } from './wire.ts';

/** What EC2 says to each action: the fields of an answer, or a whole reply. */
export type Ec2 = Record<string, (call: Call) => object | Reply | 'hang-up'>;

/** Makes the server speak EC2's protocol; an action that is not scripted is refused. */
export function speakEc2(wire: Wire, actions: Ec2): void {
  wire.script = (call) => {
    const action = call.parameters.get('Action') ?? '';
    const answer = actions[action]?.(call) ?? failure('InvalidAction', 400);
    if (answer === 'hang-up' || 'body' in answer) return answer as Reply;
    return {
      body: `<${action}Response><requestId>r-1</requestId>${xml(answer)}</${action}Response>`,
    };
  };
}

export function failure(code: string, status: number): Reply {
  const error = `<Error><Code>${code}</Code><Message>told ${code}</Message></Error>`;
  return {
    status,
    body: `<Response><Errors>${error}</Errors><RequestID>r-9</RequestID></Response>`,
  };
}

/** The error that a call must end with. */
export async function failureOf(promise: Promise<unknown>): Promise<MachineError> {
  return promise.then(
    () => expect.fail('it succeeded'),
    (error: MachineError) => error,
  );
}
