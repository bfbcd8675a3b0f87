/** A secret that stood where everybody may read. It is named by what it is of, and never shown. */
export interface Told {
  /** Such as `Secret karpenter-unikraft/web-1-credentials token`. */
  readonly secret: string;
  /** Such as `log of controller`, or the event. */
  readonly where: string;
}

/** Characters. What is shorter stands in texts by chance. */
const shortest = 12;
/** Characters of each end of a secret that are looked for: a message that is cut still shows one of them. */
const end = 24;
/** A certificate is for everybody; so is a name or an address. */
const isPublic = /^\s*-----BEGIN CERTIFICATE-----(?![\s\S]*PRIVATE KEY)|^https?:\/\/[\w.:-]+$/;
const keyLines = /-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]*?)-----END/g;

/**
 * Secrets, and a search for them in texts: as they are, and in base64 at whatever place of a larger text, in both
 * alphabets. Of a private key each line counts, so that it is found with its line ends escaped too.
 */
export class KnownSecrets {
  /** By the first characters of each form; which secret the form is of. */
  readonly #forms = new Map<string, Map<string, string>>();
  readonly #seen = new Set<string>();

  /** How many different ones. */
  get size(): number {
    return this.#seen.size;
  }

  /** @param secret what it is of, for people */
  add(secret: string, value: string): void {
    if (isPublic.test(value) || this.#seen.has(value)) return;
    this.#seen.add(value);
    for (const piece of piecesOf(value)) {
      for (const form of formsOf(piece)) this.#addForm(form, secret);
    }
  }

  /** What of them stands in a text, each secret once. */
  in(text: string, where: string): Told[] {
    const found = new Set<string>();
    for (let at = 0; at + shortest <= text.length; at++) {
      const forms = this.#forms.get(text.slice(at, at + shortest));
      for (const [form, secret] of forms ?? []) if (text.startsWith(form, at)) found.add(secret);
    }
    return [...found].map((secret) => ({ secret, where }));
  }

  #addForm(form: string, secret: string): void {
    const first = form.slice(0, shortest);
    const forms = this.#forms.get(first) ?? new Map<string, string>();
    this.#forms.set(first, forms);
    if (!forms.has(form)) forms.set(form, secret);
  }
}

function piecesOf(value: string): string[] {
  const keys = [...value.matchAll(keyLines)].flatMap(([, body = '']) => body.trim().split(/\s+/));
  const pieces = keys.length > 0 ? keys : [value.slice(0, end), value.slice(-end)];
  return pieces.filter((piece) => piece.length >= shortest);
}

/**
 * Itself, and the base64 that any text has in which it stands. Three bytes are four characters, so it looks different
 * at each of three places; the characters at its edges hold bits of its neighbours and are left out.
 */
function formsOf(piece: string): string[] {
  const bytes = Buffer.from(piece);
  const encoded = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const whole = Math.floor(((before + bytes.length) * 4) / 3);
    const inner = text.slice(Math.ceil((before * 4) / 3), whole);
    return [inner, inner.replaceAll('-', '+').replaceAll('_', '/')];
  });
  return [piece, ...encoded].filter((form) => form.length >= shortest);
}
