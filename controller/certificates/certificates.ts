import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { CertificateRequest, CertificateSource, MachineCertificate } from './source.ts';

type Mode = UnikraftNodeClassSpec['certificate']['api']['mode'];

/** The certificates of machines, each from where its node class says. */
export class Certificates {
  readonly #sources: Readonly<Record<Exclude<Mode, 'None'>, CertificateSource>>;

  constructor(sources: Readonly<Record<Exclude<Mode, 'None'>, CertificateSource>>) {
    this.#sources = sources;
  }

  /**
   * @returns undefined for a machine that gets none: its platform shows what it likes, and nobody checks it
   * @throws MachineError while there is none
   */
  async for(
    request: CertificateRequest,
    signal: AbortSignal,
  ): Promise<MachineCertificate | undefined> {
    return this.#sourceFor(request)?.certificateFor(request, signal);
  }

  /** Takes away what was made on the way to a machine's certificate; safe to repeat. */
  async release(request: CertificateRequest, signal: AbortSignal): Promise<void> {
    await this.#sourceFor(request)?.release?.(request, signal);
  }

  #sourceFor({ nodeClass }: CertificateRequest): CertificateSource | undefined {
    const { mode } = nodeClass.spec.certificate.api;
    return mode === 'None' ? undefined : this.#sources[mode];
  }
}
