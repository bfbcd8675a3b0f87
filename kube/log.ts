/** The part of pino that code here uses: first the facts, then a short sentence. */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): Logger;
}
