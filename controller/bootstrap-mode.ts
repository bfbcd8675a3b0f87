import { NodeClassError } from '#machine/errors.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

/** How the operator serves machines that call. */
export interface BootstrapSettings {
  readonly port: number;
  /** Names in the server's certificate: how machines reach it. */
  readonly hostnames: readonly string[];
  /** Issuers of AWS accounts whose word counts. */
  readonly awsIssuers: readonly string[];
  /** Where Google's keys are. */
  readonly googleKeys: string;
}

/** What a machine is given to call with. */
export interface Ticket {
  readonly token: string;
  /** PEM: whom it believes that it has reached the operator. */
  readonly ca: string;
}

export interface TicketOffice {
  /** Good for a quarter of an hour; a claim that is given up before takes it along. */
  mint(claimUid: string, url: string): Promise<Ticket>;
}

type Spec = Pick<UnikraftNodeClassSpec, 'bootstrap' | 'aws' | 'gcp'>;

const fault = { condition: 'CredentialsReady', code: 'KPU388' } as const;

/** Where machines of the class call for their secrets; undefined when these stand in their user data. */
export function callbackUrl({ bootstrap }: Pick<Spec, 'bootstrap'>): string | undefined {
  return bootstrap?.mode === 'Callback' ? bootstrap.callback?.url : undefined;
}

/**
 * @param settings undefined: nothing is served
 * @throws NodeClassError when machines of the class would call in vain
 */
export function checkServed(spec: Spec, settings: BootstrapSettings | undefined): void {
  const url = callbackUrl(spec);
  if (url === undefined) return;
  if (!settings) {
    const message =
      'spec.bootstrap.mode is Callback, and this operator serves no bootstrap: set BOOTSTRAP_HOSTNAMES';
    throw new NodeClassError({ ...fault, reason: 'BootstrapNotServed' }, message);
  }
  const { hostname } = new URL(url);
  if (!settings.hostnames.includes(hostname)) {
    const message = `spec.bootstrap.callback.url: ${hostname} is not among BOOTSTRAP_HOSTNAMES, so machines would not believe the server there`;
    throw new NodeClassError({ ...fault, reason: 'BootstrapNotServed' }, message);
  }
  if (placeOf(spec as UnikraftNodeClassSpec)?.cloud === 'aws' && settings.awsIssuers.length === 0) {
    const message =
      'BOOTSTRAP_AWS_ISSUERS is empty, so nobody would believe machines of AWS who they are';
    throw new NodeClassError({ ...fault, reason: 'BootstrapIssuerMissing' }, message);
  }
}

/** Where nothing is served; classes say so before a machine is made from them. */
export const noTickets: TicketOffice = {
  mint: async () => {
    const message = 'this operator serves no bootstrap any more: set BOOTSTRAP_HOSTNAMES';
    throw new NodeClassError({ ...fault, reason: 'BootstrapNotServed' }, message);
  },
};
