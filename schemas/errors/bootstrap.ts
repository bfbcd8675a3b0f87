import type { Explanation } from './explanation.ts';

/** Machines that call for their secrets: spec.bootstrap.mode Callback. */
export const bootstrap = {
  KPU381: {
    title: 'A node class whose machines call lacks what a call needs',
    happens:
      'The write is refused. A machine has to know where to call, and to prove by an identity of the cloud which instance it is.',
    fix: 'Set spec.bootstrap.callback.url, and spec.aws.instanceProfile or spec.gcp.serviceAccount.',
  },
  KPU382: {
    title: 'A machine showed a token that does not count',
    happens:
      'It got nothing. The token was over, of another place, or not the one that this machine was launched with. The claim ends at its deadline and another machine is tried.',
    fix: 'If machines are up only after 15 minutes, use sizes that start faster, or mode UserData. Look at the clocks of the controller. If no machine of yours called, somebody else has read user data: find out who may.',
  },
  KPU383: {
    title: 'The cloud does not say that it was the machine that called',
    happens:
      'The caller got nothing, and the machine may still call. The token of the cloud was missing, over, of another issuer, or about another instance than the one that was launched.',
    fix: 'Read what the event says. On AWS turn on outbound identity federation, name the issuer in BOOTSTRAP_AWS_ISSUERS and let the role of the machines call sts:GetWebIdentityToken; on Google Cloud give them a service account. If another instance called, it has read the user data of this one: find out how.',
  },
  KPU384: {
    title: 'A machine asked for a certificate that cannot be signed',
    happens:
      'It got nothing and may ask again. A request has to be PKCS#10 in PEM, signed with its own key, EC P-256 or P-384 or RSA of 2048 to 4096 bits.',
    fix: 'Have the image make another request; its names do not matter.',
  },
  KPU385: {
    title: 'A token that has served was shown again',
    happens:
      'The caller got nothing. Either the answer to the machine was lost on its way, and the claim ends at its deadline, or somebody else has the token.',
    fix: 'One in a while is an answer that was lost. If the machine works, somebody else showed it: find out who may read user data.',
  },
  KPU386: {
    title: 'The time to call was over before there was an instance',
    happens:
      'The machine would come up and get nothing. The claim ends before a launch, and another one is tried.',
    fix: 'Look at why launches take so long: the conditions and events of earlier NodeClaims.',
  },
  KPU387: {
    title: 'The keys of the cloud cannot be fetched',
    happens:
      'Nobody can tell who calls, so machines are asked to call again, which they do until their token is over.',
    fix: 'Let the controller reach the addresses of the keys (docs/tasks/callback.md), through a proxy or not.',
  },
  KPU388: {
    title: 'The operator does not serve where machines shall call',
    happens:
      'No machine is launched from the newest spec. It is looked at again every few seconds.',
    fix: 'Install kustomize/components/bootstrap, and set BOOTSTRAP_HOSTNAMES to the host of spec.bootstrap.callback.url, and for AWS BOOTSTRAP_AWS_ISSUERS.',
  },
} as const satisfies Record<string, Explanation>;
