import { type Duration, seconds } from '#schemas/time/clock.ts';

import { isConnectionTrouble } from '../connection-trouble.ts';

/** What Google APIs put into the body of a refusal. */
interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly status?: string;
    readonly errors?: readonly { readonly reason?: string; readonly message?: string }[];
    readonly details?: readonly {
      readonly reason?: string;
      readonly metadata?: Readonly<Record<string, string>>;
    }[];
  };
}

/** Why a call got nothing: `reason` is the API's own word for it. */
export class GoogleError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `quotaExceeded`, `alreadyExists`; `Unanswered`, `NoCredentials` and `TokenUnanswered` are this program's. */
  readonly reason: string;
  /** Further facts, such as the metric of a quota. */
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    what: { status: number; reason: string; facts?: Readonly<Record<string, string>> },
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = what.status;
    this.reason = what.reason;
    this.facts = what.facts ?? {};
  }

  /** Refused for the rate of calls, which says nothing else. */
  get isForTheRate(): boolean {
    return (
      this.status === 429 || /^(userR|r)ateLimitExceeded$|^RATE_LIMIT_EXCEEDED$/.test(this.reason)
    );
  }

  /** No answer came, or not a whole one, so nobody knows whether the call did something. */
  static unanswered(cause: unknown): GoogleError {
    return new GoogleError({ status: 0, reason: 'Unanswered' }, wordsOf(cause), { cause });
  }

  /** Nothing was sent: no token has come for so long, and who waits for ever holds up everything else. */
  static tokenLate(waited: Duration): GoogleError {
    const message = `no token has come within ${waited / seconds(1)} s from whoever gives the operator its credentials`;
    return new GoogleError({ status: 503, reason: 'TokenUnanswered' }, message);
  }

  /** Nothing was sent. Whoever gives tokens is away (5xx, no answer), or gives us none. */
  static withoutToken(cause: unknown): GoogleError {
    const status = Number((cause as { status?: unknown }).status ?? 0);
    const isAway = status >= 500 || isConnectionTrouble(cause);
    const reason = isAway ? 'TokenUnanswered' : 'NoCredentials';
    return new GoogleError({ status: isAway ? 503 : 401, reason }, wordsOf(cause), { cause });
  }
}

/**
 * A refusal as the body tells it: the classic `errors[].reason` where there is one, since the tables of causes are
 * written in it, else the newer ErrorInfo's, else the name of the status.
 *
 * Source: Google API design guide, error model; Compute Engine API, "Handling API errors".
 */
export function failureOf(status: number, text: string): GoogleError {
  const { message = text.slice(0, 300), status: name, errors = [], details = [] } = bodyOf(text);
  const reason = errors[0]?.reason ?? details.find((one) => one.reason)?.reason ?? name;
  const facts = Object.assign({}, ...details.map(({ metadata }) => metadata)) as Record<
    string,
    string
  >;
  return new GoogleError({ status, reason: reason ?? `HTTP${status}`, facts }, message);
}

function bodyOf(text: string): NonNullable<ErrorBody['error']> {
  try {
    return (JSON.parse(text) as ErrorBody).error ?? {};
  } catch {
    return {};
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}
