/**
 * Takes secrets out of a value before it is logged: pure, and whatever its shape and depth.
 */

export const censored = '[censored]';

/** Facts are small; what lies deeper than this is an object graph somebody logged by mistake. */
const deepest = 12;

/** Names of fields whose value is a secret, in lower case without `-`, `_` and `.`. */
const secretNames = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'accesstoken',
  'bearertoken',
  'idtoken',
  'refreshtoken',
  'sessiontoken',
  'activationtoken',
  'password',
  'passwd',
  'passphrase',
  'secret',
  'clientsecret',
  'secretaccesskey',
  'secretkey',
  'apikey',
  'privatekey',
  'keydata',
  'clientkeydata',
  'userdata',
  'kubeconfig',
  'credentials',
  'stringdata',
]);

/** Fields that hold a secret as text and a reference to one as object. */
const references = new Set(['secret', 'token', 'password', 'authorization']);

const privateKey =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/**
 * A copy of `value` that is safe and possible to write as JSON: secret fields and the data of Secrets are
 * replaced, keys and tokens inside of texts too, errors become plain objects, bigints texts.
 */
export function censor(value: unknown): unknown {
  return copy(value, deepest);
}

function copy(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return censorText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '[too deep]';
  if (value instanceof Error) return copyError(value, levels);
  return copyObject(value, levels);
}

function copyObject(value: object, levels: number): unknown {
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return copyEntries([...value], levels, false);
  if (Array.isArray(value) || value instanceof Set)
    return [...value].map((item) => copy(item, levels - 1));
  return copyEntries(Object.entries(value), levels, isSecret(value));
}

function copyEntries(entries: [unknown, unknown][], levels: number, inSecret: boolean): object {
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const name = String(key);
      const hide = (inSecret && name === 'data') || (isSecretName(name) && isHidden(name, item));
      return [name, hide ? censored : copy(item, levels - 1)];
    }),
  );
}

/** Message and stack are not enumerable, and what explains an error often lies in its cause. */
function copyError(error: Error, levels: number): object {
  const { name, message, stack, cause } = error;
  const more = copyEntries(Object.entries(error), levels, false);
  const facts = { type: name, message, stack, ...more };
  const texts = copyEntries(Object.entries(facts), levels, false);
  return cause === undefined ? texts : { ...texts, cause: copy(cause, levels - 1) };
}

/** Objects from a list carry no kind; of those with `data` only a Secret has a `type`. */
function isSecret(value: object): boolean {
  const { kind, type, data } = value as Record<string, unknown>;
  return kind === 'Secret' || (typeof type === 'string' && typeof data === 'object');
}

/** `tls.key` and `ca.key` as in Secrets; a plain `key` is what caches and queues call an object. */
function isSecretName(name: string): boolean {
  if (name.endsWith('.key')) return true;
  const letters = plainName.test(name) ? name : name.toLowerCase().replaceAll(/[-_.]/g, '');
  return secretNames.has(letters);
}

/** As most names of facts are: there is nothing to take out of them. */
const plainName = /^[a-z]+$/;

/** That a secret is missing may be the very thing to log, and `secret: { name }` is a reference, looked into further. */
function isHidden(name: string, item: unknown): boolean {
  if (typeof item === 'string') return item !== '';
  if (Array.isArray(item) || ArrayBuffer.isView(item)) return true;
  return typeof item === 'object' && item !== null && !references.has(name.toLowerCase());
}

/** What every text has that holds a secret; most texts hold none, and one look is cheaper than three. */
const suspicious = /PRIVATE KEY|bearer|basic|eyJ/i;

function censorText(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replaceAll(privateKey, censored)
    .replaceAll(bearer, `$1 ${censored}`)
    .replaceAll(jwt, censored);
}
