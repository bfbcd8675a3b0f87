import type { fetch } from 'undici';

import { AcmeProblem, retryAfterOf } from './problem.ts';

/** An answer of an authority is a chain of some kilobytes at most. */
const maxChars = 1 << 20;

type Response = Awaited<ReturnType<typeof fetch>>;

/** What an answer says that is none of what was asked for. */
export async function problemOf(url: string, response: Response): Promise<AcmeProblem> {
  const { status, headers } = response;
  const { type = '', detail } = fieldsOf(await textOf(response));
  const retryAfter = retryAfterOf(headers.get('retry-after'), Date.now());
  return new AcmeProblem(
    {
      status,
      type: type.replace('urn:ietf:params:acme:error:', ''),
      ...(retryAfter !== undefined && { retryAfter }),
    },
    detail ?? `HTTP ${status} from ${url}`,
  );
}

/** The fields of an object in JSON that are looked at in whatever is answered; none where it is no JSON. */
export function fieldsOf(text: string): { type?: string; detail?: string; status?: unknown } {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

/** @throws AcmeProblem where it is longer than any answer of an authority */
export async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (text.length > maxChars)
    throw new AcmeProblem({ status: response.status }, 'the answer is too long');
  return text;
}
