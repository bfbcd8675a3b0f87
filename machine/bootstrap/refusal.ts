/** What can be wrong with what a machine shows; a code of schemas/errors/codes.ts each. */
export const refusals = {
  /** The one-time token is not ours, is of another cluster or place, or its time is over. */
  token: { code: 'KPU382', reason: 'BootstrapTokenRefused' },
  /** The cloud's word on who calls is missing, is not the cloud's, or is about another instance. */
  identity: { code: 'KPU383', reason: 'BootstrapIdentityRefused' },
  /** Nothing can be signed for what was asked. */
  request: { code: 'KPU384', reason: 'BootstrapRequestRefused' },
  /** The token has served before. */
  replay: { code: 'KPU385', reason: 'BootstrapTokenReplayed' },
} as const;

export type RefusalKind = keyof typeof refusals;

/** A call that gets nothing. The message says what is wrong and holds no part of what was shown. */
export class BootstrapRefused extends Error {
  override readonly name = 'BootstrapRefused';
  readonly kind: RefusalKind;
  /** Whose token it was, where that is proven all the same. */
  readonly claimUid: string | undefined;

  constructor(
    kind: RefusalKind,
    message: string,
    { claimUid, ...options }: ErrorOptions & { claimUid?: string | undefined } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.claimUid = claimUid;
  }
}

/** The keys that prove a cloud's word cannot be fetched just now; who calls may be right. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}
