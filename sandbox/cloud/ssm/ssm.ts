import type { Clock } from '#schemas/time/clock.ts';

import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';

/** A call as Systems Manager sees it. */
export interface SsmCall {
  readonly Name?: string;
  readonly WithDecryption?: boolean;
}

/**
 * The parameter store of Systems Manager on a loopback port. A value that is put makes a new version; older ones stay,
 * under `name:version`, and a label may be hung on any.
 */
export class Ssm extends WireService<SsmCall> {
  readonly #store: Store;

  constructor({ clock }: { clock: Clock }) {
    const store = new Store();
    super(new SsmProtocol(store), clock);
    this.#store = store;
  }

  put(name: string, value: string): void {
    this.#store.put(name, value);
  }

  label(name: string, label: string, version: number): void {
    this.#store.label(name, label, version);
  }
}

class Store {
  readonly #values = new Map<string, string[]>();
  /** `name:label` → version. */
  readonly #labels = new Map<string, number>();

  put(name: string, value: string): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
  }

  label(name: string, label: string, version: number): void {
    this.#labels.set(`${name}:${label}`, version);
  }

  /** Throws ParameterNotFound and ParameterVersionNotFound. */
  get(text: string): { name: string; value: string; version: number } {
    const [, path = text, selector] =
      /^(?:arn:[^/]*:parameter)?(.*?)(?::([^:/]+))?$/.exec(text) ?? [];
    const values = this.#values.get(path);
    if (!values) throw new CloudError('ParameterNotFound', '');
    const version = this.#version(path, selector) ?? values.length;
    const value = values[version - 1];
    if (value !== undefined) return { name: path, value, version };
    const absent = `Systems Manager could not find version ${selector} of ${path}. Verify the version and try again.`;
    throw new CloudError('ParameterVersionNotFound', absent);
  }

  #version(path: string, selector: string | undefined): number | undefined {
    if (selector === undefined) return undefined;
    return /^\d+$/.test(selector)
      ? Number(selector)
      : (this.#labels.get(`${path}:${selector}`) ?? 0);
  }
}

class SsmProtocol implements Protocol<SsmCall> {
  readonly headers = { 'content-type': 'application/x-amz-json-1.1' };
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  read({ headers, body }: Exchange): { action: string; parameters: SsmCall } {
    const [, action = ''] = /^AmazonSSM\.(\w+)$/.exec(String(headers['x-amz-target'])) ?? [];
    if (action === 'GetParameter') return { action, parameters: JSON.parse(body) as SsmCall };
    throw new CloudError('UnknownOperationException', '');
  }

  act(_: string, { Name = '' }: SsmCall): string {
    const { name, value, version } = this.#store.get(Name);
    return JSON.stringify({
      Parameter: { Name: name, Type: 'String', Value: value, Version: version },
    });
  }

  refuse({ code, message }: CloudError): string {
    return JSON.stringify({ __type: code, message });
  }
}
