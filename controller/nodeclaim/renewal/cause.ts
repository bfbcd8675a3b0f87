import { endOf, renewalOf } from '#pki/certificate.ts';
import { certificatePrint } from '#pki/chain.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { minutes, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { MachineCertificate } from '../../certificates/source.ts';
import { coded } from '../../reason.ts';

type Api = ResolvedNodeClass['spec']['certificate']['api'];

/** Why a machine is to be replaced by one with another certificate. */
export interface Cause {
  readonly reason: 'CertificateExpiring' | 'CertificateChanged';
  /** Ends with the code. */
  readonly message: string;
}

/** Reasons that this room gives to the condition Drifted, and takes back. */
export const reasons: readonly string[] = [
  'CertificateExpiring',
  'CertificateChanged',
] satisfies Cause['reason'][];

/**
 * What speaks for replacing a machine for its certificate, which it keeps for life; undefined while nothing does.
 *
 * A certificate of the user's own is theirs to renew: the machine follows once the Secret holds another one, since a
 * replacement would get the same until then. Of the others two thirds of the life have to be over, as for all
 * certificates here, so that a third of it is left for a replacement that has to wait for budgets.
 *
 * @param made  the revision that the machine was made from
 * @param current  what would be made of its class now; undefined when nothing can be
 */
export function causeOf(
  tls: MachineCertificate,
  made: ResolvedNodeClass,
  current: ResolvedNodeClass | undefined,
  clock: Pick<Clock, 'now' | 'from'>,
): Cause | undefined {
  if (tls.certificate === '') return undefined; // the machine has still to call for it
  if (hasOther(tls, made, current)) {
    const message = 'The Secret that its certificate came from holds another one';
    return { reason: 'CertificateChanged', message: coded(message, 'KPU369') };
  }
  const { renewal, end, endOfCa } = timesOf(tls);
  if (!isRenewedByUs(made, endOfCa - Date.parse(end))) return undefined;
  if (clock.now() < clock.from(renewal)) return undefined;
  const message = `Its certificate ends at ${end}, and two thirds of its life are over`;
  return { reason: 'CertificateExpiring', message: coded(message, 'KPU369') };
}

/**
 * Only of the same Secret: another one is a change of the class, which is for new machines. And only once the class has
 * moved on, since a launch may read what the class has not seen yet.
 */
function hasOther(
  { certificate, ca }: MachineCertificate,
  made: ResolvedNodeClass,
  current: ResolvedNodeClass | undefined,
): boolean {
  if (current?.certificate === undefined || current.certificate === made.certificate) return false;
  const { api } = current.spec.certificate;
  const print = certificatePrint(api.mode === 'SecretRef' ? certificate : ca);
  return sourceOf(api) === sourceOf(made.spec.certificate.api) && print !== current.certificate;
}

function sourceOf({ mode, secretRef, caSecretRef }: Api): string {
  return JSON.stringify([mode, secretRef?.name, caSecretRef?.name]);
}

/**
 * A leaf that ends with its authority would be followed by one that ends no later, over and over. It is the authority
 * that has to be renewed then; a minute is more than the spellings of one instant differ by.
 *
 * @param spare  how much longer the authority is valid
 */
function isRenewedByUs(made: ResolvedNodeClass, spare: Duration): boolean {
  const { mode } = made.spec.certificate.api;
  return mode === 'PrivateCA' ? spare > minutes(1) : mode !== 'SecretRef';
}

interface Times {
  readonly renewal: string;
  readonly end: string;
  readonly endOfCa: number;
}

/** Each is read once: a round looks at all machines in one turn of the event loop. */
const known = new WeakMap<MachineCertificate, Times>();

function timesOf(tls: MachineCertificate): Times {
  const read = known.get(tls) ?? {
    renewal: renewalOf(tls.certificate),
    end: endOf(tls.certificate),
    endOfCa: Date.parse(endOf(tls.ca)),
  };
  known.set(tls, read);
  return read;
}
