import {
  CreateError,
  DnsUnavailable,
  MachineError,
  NodeClassError,
  Unauthorized,
} from '../../errors.ts';
import { faults } from '../../faults.ts';

/** Codes of answers by number (RFC 1035 §4.1.1, RFC 2136 §2.2). */
export const statuses: readonly string[] = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
];

/** A DNS server said no; or what came was not signed, and so says nothing (`UNSIGNED`). */
export class DnsRefusal extends Error {
  /** As {@link statuses} has it, or the signature's error when there is one; `TOOLARGE` is our own. */
  readonly status: string;

  constructor(status: string) {
    super(meanings[status]?.says ?? 'the server could not do it just now');
    this.status = status;
  }
}

interface Meaning {
  readonly becomes: 'forbidden' | 'no-zone' | 'changed' | 'unfit';
  /** What it means for a person, and what to do about it. */
  readonly says: string;
}

/** What is not in this table, SERVFAIL among it, may pass by itself. */
const meanings: Readonly<Record<string, Meaning>> = {
  REFUSED: {
    becomes: 'forbidden',
    says: "the key may not do this; allow it in the zone's update policy, and to ask for the zone's names",
  },
  BADSIG: {
    becomes: 'forbidden',
    says: 'the secret or algorithm of the key is not the one that the server has',
  },
  BADKEY: { becomes: 'forbidden', says: 'the server knows no key of this name and algorithm' },
  BADTIME: { becomes: 'forbidden', says: "the server's clock is more than five minutes off ours" },
  BADTRUNC: { becomes: 'forbidden', says: 'the server wants signatures of another length' },
  UNSIGNED: { becomes: 'forbidden', says: 'the answer is not signed with the key' },
  NOTAUTH: {
    becomes: 'no-zone',
    says: 'the server does not hold the zone; name the primary server of spec.dns.zone in spec.dns.server',
  },
  NOTZONE: { becomes: 'unfit', says: 'a name is not in the zone' },
  NOTIMP: { becomes: 'unfit', says: 'the server takes no dynamic updates' },
  FORMERR: { becomes: 'unfit', says: 'the server does not understand the message' },
  YXDOMAIN: { becomes: 'changed', says: 'a name exists by now' },
  YXRRSET: { becomes: 'changed', says: 'a record exists by now' },
  NXDOMAIN: { becomes: 'changed', says: 'a name is gone by now' },
  NXRRSET: { becomes: 'changed', says: 'a record reads otherwise by now' },
  TOOLARGE: { becomes: 'changed', says: 'the changes are more than one message holds' },
};

/** The server refused an update for what is in it; each order by itself may do better. */
export function isRefusedUpdate(error: unknown): boolean {
  return error instanceof DnsRefusal && meanings[error.status]?.becomes === 'changed';
}

/**
 * A DNS server's failure as the rest of the program sees it. Everything that may pass by itself is `retry`, a refused
 * update among it: somebody changed the zone since it was read, and it is read again.
 *
 * @param doing  what was tried, as the beginning of a sentence
 * @throws the error itself when it is none of the network's
 */
export function toDnsError(error: unknown, doing: string): MachineError {
  if (error instanceof MachineError) return error;
  const { code } = error as { code?: unknown };
  if (!(error instanceof DnsRefusal)) {
    if (typeof code !== 'string') throw error;
    const text = `${doing}: ${code}: ${(error as Error).message.slice(0, 300)}`;
    return new DnsUnavailable(text, { cause: error });
  }
  const text = `${doing}: ${error.status}: ${error.message}`;
  switch (meanings[error.status]?.becomes) {
    case 'forbidden':
      return new Unauthorized(text, { cause: error });
    case 'no-zone':
      return new NodeClassError(faults.zoneNotFound, text, { cause: error });
    case 'unfit':
      return new CreateError(error.status, text, 'slow', { cause: error });
    case 'changed':
    case undefined:
      return new DnsUnavailable(text, { cause: error });
  }
}
