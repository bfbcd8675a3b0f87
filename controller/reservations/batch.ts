import { judge, type Bound, type Entry, type Ledger, type Verdict } from './ledger.ts';

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
  const next = new Map(ledger);
  for (const ask of asks) settleFact(next, ask);
  const verdicts = asks.map((ask) => come(next, ask));
  return { ledger: next, changed: !isSame(ledger, next), verdicts };
}

function settleFact(ledger: Map<string, Entry>, ask: Ask): void {
  if (ask.kind === 'release') ledger.delete(ask.uid);
  if (ask.kind === 'rebuild') ask.gone.forEach((uid) => ledger.delete(uid));
  if (ask.kind === 'hold') ledger.set(ask.uid, ask.entry);
}

function come(ledger: Map<string, Entry>, ask: Ask): Verdict {
  if (ask.kind === 'rebuild') {
    for (const [uid, entry] of ask.held) if (!ledger.has(uid)) ledger.set(uid, entry);
  }
  if (ask.kind !== 'reserve') return { granted: true };
  const verdict = judge(ledger, ask.bounds, ask.uid, ask.entry.resources);
  if (verdict.granted) ledger.set(ask.uid, ask.entry);
  return verdict;
}

function isSame(a: Ledger, b: Ledger): boolean {
  return a.size === b.size && [...a].every(([uid, entry]) => isSameEntry(entry, b.get(uid)));
}

function isSameEntry(a: Entry, b: Entry | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
