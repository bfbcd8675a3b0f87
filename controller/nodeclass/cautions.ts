import type { NodeClassError } from '#machine/errors.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import { asReason, coded } from '../reason.ts';
import type { Aspect } from './trouble.ts';

/** What works and has a price that people should know, or works as far as anybody can tell: its condition stays True and tells it. */
export interface Caution {
  readonly condition: Aspect;
  readonly reason: string;
  /** Ends with the code. */
  readonly message: string;
  /** Told by an event too: somebody may have to do something. */
  readonly isDoubt?: true;
}

/** What the spec itself says, whatever the world is like. */
export function cautionsOf({ dns, certificate }: UnikraftNodeClassSpec): readonly Caution[] {
  return [
    ...(dns.provider === 'None' ? [namesUnpublished] : []),
    ...(certificate.api.mode === 'None' ? [machinesUnchecked] : []),
  ];
}

/** What a cloud says that it would refuse, where its word is not final. */
export function doubtOf({ condition, reason, message, code }: NodeClassError): Caution {
  return { condition, reason: asReason(reason), message: coded(message, code), isDoubt: true };
}

const machinesUnchecked: Caution = {
  condition: 'CertificateReady',
  reason: 'MachinesNotChecked',
  message: coded(
    'spec.certificate.api.mode is None: nobody checks who answers for a machine, so whoever is on the way can take its token',
    'KPU367',
  ),
};

const namesUnpublished: Caution = {
  condition: 'DNSReady',
  reason: 'NamesNotPublished',
  message: coded(
    'spec.dns.provider is None: names of machines are in no DNS. The operator and Kraftlet are told their address; ' +
      'nothing else can reach a machine by its name, its registry among it',
    'KPU371',
  ),
};
