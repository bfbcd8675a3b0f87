import { poolToken } from '#controller/reservations/names.ts';

import type { Exchange } from './exchange.ts';

const pattern = /case-\d{3}/g;

/**
 * Finds the machines that a call is about. Each has a NodePool for itself, `case-001`, whose name is in all names that
 * come of it; a few calls name a machine otherwise, and what those names are is learned from answers.
 */
export class Subjects {
  /** UIDs of claims, ids of instances and names of ledgers → subject. */
  readonly #aliases = new Map<string, string>();
  /** Who is in a ledger that machines share: each write of it repeats what all of them have there. */
  readonly #ledgers = new Map<string, ReadonlySet<string>>();

  /** @returns its name */
  add(index: number): string {
    const name = `case-${String(index).padStart(3, '0')}`;
    this.#aliases.set(poolToken(name), name);
    return name;
  }

  of(exchange: Exchange): readonly string[] {
    const named = this.#named(exchange);
    const ledger = sharedLedger(exchange);
    if (ledger === undefined) return [...named];
    const before = this.#ledgers.get(ledger) ?? new Set();
    const came = [...named].filter((one) => !before.has(one));
    const went = [...before].filter((one) => !named.has(one));
    return [...came, ...went];
  }

  /** Takes in a call that was carried out, and its answer. */
  learn(exchange: Exchange, answer: string): void {
    const ledger = sharedLedger(exchange);
    if (ledger !== undefined) return void this.#ledgers.set(ledger, this.#named(exchange));
    const [subject, ...more] = this.#named(exchange);
    if (subject === undefined || more.length > 0) return;
    for (const id of answer.match(/\bi-0[0-9a-f]{16}\b/g) ?? []) this.#aliases.set(id, subject);
    if (!isClaimMade(exchange)) return;
    const { metadata } = JSON.parse(answer) as { metadata: { uid: string } };
    this.#aliases.set(metadata.uid, subject);
  }

  #named({ path, body }: Exchange): Set<string> {
    const text = `${path} ${body}`;
    const found = new Set<string>(text.match(pattern));
    for (const [alias, subject] of this.#aliases) if (text.includes(alias)) found.add(subject);
    return found;
  }
}

function isClaimMade({ method, path }: Exchange): boolean {
  return method === 'POST' && /\/nodeclaims(\?|$)/.test(path);
}

const ledgerName = `karpenter-unikraft-${poolToken('*')}`;

/** The ledger that a call writes, if it is the one of the whole cluster. */
function sharedLedger({ service, method, path, body }: Exchange): string | undefined {
  if (service !== 'kubernetes' || method === 'GET' || !path.includes('/configmaps'))
    return undefined;
  return path.includes(ledgerName) || body.includes(`"${ledgerName}"`) ? ledgerName : undefined;
}
