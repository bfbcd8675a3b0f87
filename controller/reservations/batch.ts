import { Account } from './account.ts';
import { textOf, type Bound, type Entry, type Ledger, type Verdict } from './ledger.ts';

/** One thing asked of a ledger. */
export type Ask =
  | {
      readonly kind: 'reserve';
      readonly bounds: readonly Bound[];
      readonly uid: string;
      readonly entry: Entry;
    }
  /** A machine that is there takes what it takes, limits or not; whoever asks later is judged by it. */
  | { readonly kind: 'hold'; readonly uid: string; readonly entry: Entry }
  | { readonly kind: 'release'; readonly uid: string }
  /** Forget `gone`, remember what `held` lacks an entry for. */
  | { readonly kind: 'rebuild'; readonly gone: ReadonlySet<string>; readonly held: Ledger }
  /** Nothing but the removal of an empty ledger. */
  | { readonly kind: 'tidy' };

/** What comes of a batch: one verdict for each ask, in order; asks that are no reservation are always granted. */
export interface Outcome {
  readonly ledger: Ledger;
  readonly changed: boolean;
  readonly verdicts: readonly Verdict[];
}

/**
 * The asks one after the other, releases first: what leaves makes room for what comes with it; and what machines are
 * found to take before what others ask for.
 */
export function settle(ledger: Ledger, asks: readonly Ask[]): Outcome {
  const account = new Account(ledger);
  for (const ask of asks) settleFact(account, ask);
  const verdicts = asks.map((ask) => come(account, ask));
  return { ledger: account.entries, changed: !isSame(ledger, account.entries), verdicts };
}

function settleFact(account: Account, ask: Ask): void {
  if (ask.kind === 'release') account.remove(ask.uid);
  if (ask.kind === 'rebuild') ask.gone.forEach((uid) => account.remove(uid));
  if (ask.kind === 'hold') account.put(ask.uid, ask.entry);
}

function come(account: Account, ask: Ask): Verdict {
  if (ask.kind === 'rebuild') {
    for (const [uid, entry] of ask.held) if (!account.entries.has(uid)) account.put(uid, entry);
  }
  if (ask.kind !== 'reserve') return { granted: true };
  const verdict = account.judge(ask.bounds, ask.uid, ask.entry.resources);
  if (verdict.granted) account.put(ask.uid, ask.entry);
  return verdict;
}

function isSame(a: Ledger, b: Ledger): boolean {
  return a.size === b.size && [...a].every(([uid, entry]) => isSameEntry(entry, b.get(uid)));
}

function isSameEntry(a: Entry, b: Entry | undefined): boolean {
  return a === b || (b !== undefined && textOf(a) === textOf(b));
}
