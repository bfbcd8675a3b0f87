import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

/** What a machine shows to prove who it is, and what those who talk to it believe. All PEM. */
export interface MachineCertificate {
  /** The leaf first, then what signed it. Empty, as its key, until a machine that calls for it has done so. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities, of which one signed the last of the chain; nothing else is trusted. */
  readonly ca: string;
}

/** A machine that is about to be launched. */
export interface CertificateRequest {
  readonly claim: Live<NodeClaim>;
  /** The machine's short name. */
  readonly machine: string;
  readonly nodeClass: ResolvedNodeClass;
  /** What it has to be good for. */
  readonly names: readonly string[];
}

/** One way to a certificate, the `mode` of a node class. */
export interface CertificateSource {
  /**
   * Asked again and again until it answers, and never after that: what it gave is kept in the machine's Secret.
   *
   * @throws MachineError while there is none, which says what is waited for
   */
  certificateFor(request: CertificateRequest, signal: AbortSignal): Promise<MachineCertificate>;
  /** Takes away what was made for a machine beside what {@link certificateFor} gave; safe to repeat. */
  release?(request: CertificateRequest, signal: AbortSignal): Promise<void>;
}
