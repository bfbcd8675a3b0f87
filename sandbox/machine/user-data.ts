/**
 * Reads user data as a machine's image does at its first boot, and believes nothing: whatever is missing or of
 * another shape is named. It is written from the documented format alone, apart from the code that renders it.
 */
import { parse } from 'yaml';

import type { PemPair } from '#pki/certificate.ts';

export interface Quotas {
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly volumeStorageMiB: number;
  readonly instances: number;
}

export interface PlatformUser {
  readonly name: string;
  readonly token: string;
  readonly quotas: Quotas;
}

export interface MachineSettings {
  readonly fqdn: string;
  readonly port: number;
  readonly users: readonly PlatformUser[];
  /** Absent where the platform makes a certificate of its own. */
  readonly tls: PemPair | undefined;
  /** Where it gets what is missing: tokens of users, certificate. */
  readonly callback: CallbackSettings | undefined;
}

export interface CallbackSettings {
  readonly url: string;
  readonly token: string;
  readonly audience: string;
  readonly ca: string;
  readonly cloud: string;
}

/** What a machine that called was told. */
export interface ToldSecrets {
  /** By the name of a user. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly tls: PemPair | undefined;
}

export class BadUserData extends Error {}

const settingsFile = '/etc/unikraft/machine.json';
const apiVersion = 'machine.karpenter.unikraft.com/v1alpha1';

/** Throws {@link BadUserData} with the path of what is wrong. */
export function readUserData(userData: string): MachineSettings {
  if (!userData.startsWith('#cloud-config\n')) throw new BadUserData('is not #cloud-config');
  const settings = new Reader(fileOf(attempt(() => parse(userData), 'is not YAML')), settingsFile);
  const version = settings.text('apiVersion');
  if (version !== apiVersion)
    throw new BadUserData(`${settingsFile}: apiVersion ${version} is not known`);
  const tls = settings.has('tls') ? settings.inside('tls') : undefined;
  return {
    fqdn: settings.text('fqdn'),
    port: settings.whole('port'),
    users: settings.list('users').map((user) => readUser(user, !settings.has('bootstrap'))),
    tls: tls && { certificate: tls.text('certificate'), privateKey: tls.text('privateKey') },
    callback: settings.has('bootstrap') ? readCallback(settings.inside('bootstrap')) : undefined,
  };
}

/**
 * An answer of the bootstrap server.
 *
 * @param privateKey  of the certificate that was asked for, when the answer brings none
 */
export function readSecrets(body: string, privateKey: string): ToldSecrets {
  const answer = new Reader(
    attempt(() => JSON.parse(body) as unknown, 'the answer is not JSON'),
    'answer',
  );
  const tls = answer.has('tls') ? answer.inside('tls') : undefined;
  return {
    tokens: new Map(
      answer.list('users').map((user) => [user.text('name'), user.text('token')] as const),
    ),
    tls: tls && {
      certificate: tls.text('certificate'),
      privateKey: tls.has('privateKey') ? tls.text('privateKey') : privateKey,
    },
  };
}

function readCallback(bootstrap: Reader): CallbackSettings {
  return {
    url: bootstrap.text('url'),
    token: bootstrap.text('token'),
    audience: bootstrap.text('audience'),
    ca: bootstrap.text('ca'),
    cloud: bootstrap.text('cloud'),
  };
}

function readUser(user: Reader, isTold: boolean): PlatformUser {
  const quotas = user.inside('quotas');
  return {
    name: user.text('name'),
    token: isTold ? user.text('token') : '',
    quotas: {
      vcpus: quotas.whole('vcpus'),
      memoryMiB: quotas.whole('memoryMiB'),
      volumeStorageMiB: quotas.whole('volumeStorageMiB'),
      instances: quotas.whole('instances'),
    },
  };
}

/** The settings file among cloud-config's `write_files`, as JSON. */
function fileOf(config: unknown): unknown {
  const files = new Reader(config, 'cloud-config').list('write_files');
  const file = files.find((one) => one.text('path') === settingsFile);
  if (!file) throw new BadUserData(`write_files has no ${settingsFile}`);
  return attempt(() => JSON.parse(file.text('content')) as unknown, `${settingsFile} is not JSON`);
}

function attempt<T>(read: () => T, otherwise: string): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadUserData) throw error;
    throw new BadUserData(otherwise, { cause: error });
  }
}

/** Typed access to an object of unknown shape. */
class Reader {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null)
      throw new BadUserData(`${path} is not an object`);
    this.#object = value as Record<string, unknown>;
    this.#path = path;
  }

  text(key: string): string {
    const value = this.#object[key];
    if (typeof value === 'string' && value !== '') return value;
    throw new BadUserData(`${this.#path}.${key} is not a text`);
  }

  /** Zero or more. */
  whole(key: string): number {
    const value = this.#object[key];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new BadUserData(`${this.#path}.${key} is not a whole number`);
  }

  has(key: string): boolean {
    return this.#object[key] !== undefined;
  }

  inside(key: string): Reader {
    return new Reader(this.#object[key], `${this.#path}.${key}`);
  }

  list(key: string): Reader[] {
    const value = this.#object[key];
    if (!Array.isArray(value)) throw new BadUserData(`${this.#path}.${key} is not a list`);
    return value.map((item, index) => new Reader(item, `${this.#path}.${key}[${index}]`));
  }
}
