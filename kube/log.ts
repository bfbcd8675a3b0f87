/**
 * Logs are for machines: JSON, one event a line, facts first, then a short sentence. No secret ever reaches one.
 */
import { pino, type DestinationStream, type Logger as Pino } from 'pino';

import { isoText } from '#schemas/time/iso-text.ts';

import { censor } from './censor.ts';

/** The part of pino that code here uses: first the facts, then a short sentence. */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): Logger;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** The program that speaks: `controller`, `webhook`. */
  readonly name: string;
  /** Where lines go; default: standard output. */
  readonly destination?: DestinationStream;
}

/** A logger that censors secrets in everything it is given, however deep; see {@link censor}. */
export function createLogger({ level, name, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { name },
    timestamp: () => `,"time":"${isoText(Date.now())}"`,
    // Censoring has made plain facts of errors already; pino's own serializer would drop what it does not know.
    serializers: { err: (error: unknown) => error },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return new CensoringLogger(destination ? pino(options, destination) : pino(options));
}

/** For tests, and for whoever must not speak. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

type Level = Exclude<LogLevel, 'silent'>;

/**
 * pino's own redaction takes fixed paths with one level of wildcard, and a Secret may sit at any depth of the
 * facts; so facts are censored before pino sees them, and only when the level is on.
 */
class CensoringLogger implements Logger {
  readonly #pino: Pino;

  constructor(logger: Pino) {
    this.#pino = logger;
  }

  debug(facts: object, message: string): void {
    this.#write('debug', facts, message);
  }

  info(facts: object, message: string): void {
    this.#write('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.#write('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.#write('error', facts, message);
  }

  child(facts: object): Logger {
    return new CensoringLogger(this.#pino.child(asFacts(facts)));
  }

  #write(level: Level, facts: object, message: string): void {
    if (this.#pino.isLevelEnabled(level)) this.#pino[level](asFacts(facts), censorText(message));
  }
}

/** An error given in place of facts is the fact `err`. */
function asFacts(facts: object): Record<string, unknown> {
  return censor(facts instanceof Error ? { err: facts } : facts) as Record<string, unknown>;
}

function censorText(message: string): string {
  return censor(message) as string;
}
