import type { CloudIdentity } from './cloud-identity.ts';

/** The instance that was launched for a claim. */
export interface LaunchedInstance {
  readonly cloud: string;
  /** Undefined where the node class does not say in whose account its machines are. */
  readonly account: string | undefined;
  readonly region: string;
  readonly zone: string;
  readonly instance: string;
}

/** What tells the instance that calls from the one that was launched; undefined: nothing does. */
export function differenceBetween(
  caller: CloudIdentity,
  launched: LaunchedInstance,
): string | undefined {
  const compared = [
    ['cloud', caller.cloud, launched.cloud],
    ['account', caller.account, launched.account ?? caller.account],
    ['region', caller.region, launched.region],
    ['zone', caller.zone ?? launched.zone, launched.zone],
    ['instance', caller.instance, launched.instance],
  ] as const;
  const other = compared.find(([, is, wanted]) => is !== wanted);
  return other && `the ${other[0]} of the caller is ${other[1]}, not ${other[2]}`;
}
