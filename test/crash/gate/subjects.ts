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
  /** Who is in the ledger that machines share: each write of it repeats what all of them have there. */
  #held: ReadonlySet<string> = new Set();

  /** @returns its name */
  add(index: number): string {
    const name = `case-${String(index).padStart(3, '0')}`;
    this.#aliases.set(poolToken(name), name);
    return name;
  }

  of(exchange: Exchange): readonly string[] {
    if (!writesLedger(exchange)) return [...this.#named(`${exchange.path} ${exchange.body}`)];
    const now = this.#holders(exchange);
    const came = [...now].filter((one) => !this.#held.has(one));
    const went = [...this.#held].filter((one) => !now.has(one));
    return [...came, ...went];
  }

  /** Takes in a call that was carried out, and its answer. */
  learn(exchange: Exchange, answer: string): void {
    if (writesLedger(exchange)) this.#held = this.#holders(exchange);
    const [subject, ...more] = this.of(exchange);
    if (subject === undefined || more.length > 0) return;
    for (const id of answer.match(/\bi-0[0-9a-f]{16}\b/g) ?? []) this.#aliases.set(id, subject);
    if (!isClaimMade(exchange)) return;
    const { metadata } = JSON.parse(answer) as { metadata: { uid: string } };
    this.#aliases.set(metadata.uid, subject);
  }

  /** By the ledger's data alone: its managedFields remember who was in it long ago. */
  #holders({ method, body }: Exchange): Set<string> {
    if (method === 'DELETE') return new Set();
    const { data = {} } = JSON.parse(body) as { data?: object };
    return this.#named(JSON.stringify(data));
  }

  #named(text: string): Set<string> {
    const found = new Set<string>(text.match(pattern));
    for (const [alias, subject] of this.#aliases) if (text.includes(alias)) found.add(subject);
    return found;
  }
}

function isClaimMade({ method, path }: Exchange): boolean {
  return method === 'POST' && /\/nodeclaims(\?|$)/.test(path);
}

const ledgerName = `karpenter-unikraft-${poolToken('*')}`;

/** The one of the whole cluster. */
function writesLedger({ service, method, path, body }: Exchange): boolean {
  const isWrite = service === 'kubernetes' && method !== 'GET' && path.includes('/configmaps');
  return isWrite && (path.includes(ledgerName) || body.includes(`"${ledgerName}"`));
}
