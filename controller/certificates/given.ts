import type { KubeClient } from '#kube/client/client.ts';
import { NodeClassError } from '#machine/errors.ts';
import { machineNames } from '#machine/names.ts';
import { certificateProblem, type Expectation } from '#pki/certificate.ts';
import { anchorsOf, certificatePrint, chainProblem } from '#pki/chain.ts';
import type { Secret } from '#schemas/kubernetes/core.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours, type Clock, type Duration } from '#schemas/time/clock.ts';

import { readSecret, textIn } from '../read-secret.ts';
import type { CertificateRequest, CertificateSource, MachineCertificate } from './source.ts';

/** What has less than a day left would end with machines that have just been made. */
const shortest: Duration = hours(24);
/** A machine as any other: its name cannot be foreseen, so only a wildcard covers it. */
const anyMachine = 'machine-00000000';

const fault = { condition: 'CertificateReady', code: 'KPU361', canPass: true } as const;

/**
 * Mode SecretRef: all machines of a class show the certificate of one Secret, which its owner renews. A machine keeps
 * what the Secret held at its launch.
 */
export class GivenCertificates implements CertificateSource {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #clock: Pick<Clock, 'stamp'>;

  constructor(client: KubeClient, namespace: string, clock: Pick<Clock, 'stamp'>) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  async certificateFor({ nodeClass, names }: CertificateRequest): Promise<MachineCertificate> {
    return this.#read(nodeClass.spec, names);
  }

  /**
   * Which certificate machines of a class get now.
   *
   * @returns its fingerprint
   * @throws NodeClassError unless it is there and good for every machine of the class
   */
  async check(spec: UnikraftNodeClassSpec): Promise<string> {
    const { certificate } = await this.#read(spec, [machineNames(spec.dns, anyMachine).api]);
    return certificatePrint(certificate);
  }

  async #read(
    { certificate: { api } }: ResolvedNodeClass['spec'],
    names: readonly string[],
  ): Promise<MachineCertificate> {
    const { namespace, name } = { namespace: this.#namespace, name: api.secretRef?.name ?? '' };
    const secret = await readSecret(this.#client, { namespace, name });
    if (!secret) {
      const message = `Secret ${namespace}/${name} does not exist; it is looked for every few seconds`;
      throw new NodeClassError({ ...fault, reason: 'SecretNotFound' }, message);
    }
    const read = certificateIn(secret, { names, at: this.#clock.stamp(), left: shortest });
    if (typeof read !== 'string') return read;
    const message = `Secret ${namespace}/${name} holds no certificate for these machines: ${read}`;
    throw new NodeClassError({ ...fault, reason: 'CertificateSecretInvalid' }, message);
  }
}

/**
 * The certificate of a Secret of type kubernetes.io/tls, with `ca.crt` where its authority is not a public one.
 *
 * @returns what is wrong with it, as the end of a sentence, if anything is
 */
export function certificateIn(secret: Secret, expected: Expectation): MachineCertificate | string {
  const pair = { certificate: textIn(secret, 'tls.crt'), privateKey: textIn(secret, 'tls.key') };
  const problem = certificateProblem(pair, expected) ?? chainProblem(pair.certificate);
  if (problem !== undefined) return problem;
  const given = textIn(secret, 'ca.crt');
  const ca = anchorsOf(pair.certificate, given);
  if (ca !== '') return { ...pair, ca };
  return given.trim() === ''
    ? 'no public authority signed it; put the one that did, and those between, under ca.crt and tls.crt'
    : 'no authority of ca.crt signed the last certificate of tls.crt';
}
