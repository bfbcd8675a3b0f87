/**
 * Compute Engine's API as its own client library describes it: which method is at which path, and what its query and
 * its body may hold. The client drops unknown fields in silence; here they are refused, as the real API does.
 */
import { readFileSync } from 'node:fs';

import { CloudError } from '../wire/service.ts';

interface Field {
  readonly type: string;
  readonly rule?: 'repeated';
  readonly keyType?: string;
}

interface Message {
  readonly fields?: Readonly<Record<string, Field>>;
}

interface ServiceDescription {
  readonly methods: Readonly<
    Record<
      string,
      { readonly requestType: string; readonly options: Readonly<Record<string, unknown>> }
    >
  >;
}

type Described = Readonly<Record<string, Message & Partial<ServiceDescription>>>;

/** A method and how it is called. */
export interface Route {
  /** `instances.insert` */
  readonly action: string;
  readonly http: string;
  /** `/compute/v1/projects/{project}/…` */
  readonly template: string;
  readonly path: RegExp;
  /** Field of the request that its body is. */
  readonly body: string | undefined;
  readonly request: string;
}

const services = [
  'Instances',
  'Disks',
  'ZoneOperations',
  'MachineTypes',
  'Zones',
  'Subnetworks',
  'Images',
];

/**
 * A parameter that lists over all zones have, and version 7.8.0 of the descriptions leaves out of these two.
 *
 * Source: Compute Engine API reference v1, query parameters of instances.aggregatedList and disks.aggregatedList.
 */
const undescribed: Readonly<Record<string, string>> = {
  'instances.aggregatedList': 'returnPartialSuccess',
  'disks.aggregatedList': 'returnPartialSuccess',
};

/** The descriptions, read once when the first call comes: they are 12 MB of text. */
export class Descriptions {
  static #loaded: Descriptions | undefined;
  readonly routes: readonly Route[];
  readonly #messages: Described;

  private constructor(messages: Described) {
    this.#messages = messages;
    this.routes = services.flatMap((service) => routesOf(service, messages));
  }

  static load(): Descriptions {
    Descriptions.#loaded ??= new Descriptions(read());
    return Descriptions.#loaded;
  }

  /** @returns the method of this path with the values of its parameters */
  find(http: string, path: string): { route: Route; values: Record<string, string> } | undefined {
    for (const route of this.routes) {
      const groups = route.http === http ? route.path.exec(path)?.groups : undefined;
      if (groups) return { route, values: decoded(groups) };
    }
    return undefined;
  }

  /** Throws badRequest for a parameter that the method does not have. */
  checkQuery(route: Route, query: URLSearchParams): void {
    const known = this.#messages[route.request]?.fields ?? {};
    for (const name of query.keys()) {
      const isKnown = Object.hasOwn(known, name) && camel(route.body ?? '') !== name;
      if (!isKnown && undescribed[route.action] !== name) throw unknownName(name, 'query');
    }
  }

  /** Throws badRequest for a field that the body's message does not have, or that is of another type. */
  checkBody(route: Route, body: unknown): void {
    if (route.body === undefined) {
      if (body !== undefined) throw unknownName('body', route.action);
      return;
    }
    const field = this.#messages[route.request]?.fields?.[camel(route.body)];
    if (field) this.#check(field.type, body, 'resource');
  }

  #check(type: string, value: unknown, path: string): void {
    const scalar = scalars[type];
    if (scalar) {
      if (!scalar(value)) throw wrongType(type, value, path);
      return;
    }
    const { fields = {} } = this.#messages[type] ?? {};
    if (!isObject(value)) throw wrongType(type, value, path);
    for (const [name, inner] of Object.entries(value)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (!field) throw unknownName(name, path);
      this.#checkField(field, inner, `${path}.${name}`);
    }
  }

  #checkField({ type, rule, keyType }: Field, value: unknown, path: string): void {
    if (rule === 'repeated') {
      if (!Array.isArray(value)) throw wrongType(`list of ${type}`, value, path);
      for (const [index, one] of value.entries()) this.#check(type, one, `${path}[${index}]`);
      return;
    }
    if (keyType === undefined) {
      this.#check(type, value, path);
      return;
    }
    if (value === null || typeof value !== 'object') throw wrongType(`map of ${type}`, value, path);
    for (const [key, one] of Object.entries(value)) this.#check(type, one, `${path}.${key}`);
  }
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isWhole = (value: unknown): boolean => Number.isInteger(value);
/** 64 bits do not fit a number of JSON, so that they are written as text. */
const isLong = (value: unknown): boolean => /^-?\d+$/.test(String(value));
const isNumber = (value: unknown): boolean => typeof value === 'number';

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isText,
  bool: (value) => typeof value === 'boolean',
  int32: isWhole,
  uint32: isWhole,
  int64: isLong,
  uint64: isLong,
  float: isNumber,
  double: isNumber,
};

function read(): Described {
  const file = import.meta.resolve('@google-cloud/compute/build/protos/protos.json');
  const root = JSON.parse(readFileSync(new URL(file), 'utf8')) as Nested;
  const names = ['google', 'cloud', 'compute', 'v1'];
  const inside = names.reduce<Nested | undefined>((at, name) => at?.nested?.[name], root);
  return (inside?.nested ?? {}) as unknown as Described;
}

interface Nested {
  readonly nested?: Readonly<Record<string, Nested>>;
}

function routesOf(service: string, messages: Described): Route[] {
  const methods = Object.entries(messages[service]?.methods ?? {});
  return methods.map(([name, { requestType, options }]) => {
    const http = ['get', 'post', 'delete', 'patch', 'put'].find(
      (one) => options[`(google.api.http).${one}`] !== undefined,
    );
    const template = String(options[`(google.api.http).${http}`]);
    const body = options['(google.api.http).body'];
    return {
      action: `${lowerFirst(service)}.${lowerFirst(name)}`,
      http: (http ?? '').toUpperCase(),
      template,
      path: new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      body: typeof body === 'string' ? body : undefined,
      request: requestType,
    };
  });
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  const values = Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]);
  return Object.fromEntries(values) as Record<string, string>;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** `instance_resource` → `instanceResource` */
function camel(text: string): string {
  return text.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function unknownName(name: string, path: string): CloudError {
  const message = `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
  return new CloudError('badRequest', message);
}

function wrongType(type: string, value: unknown, path: string): CloudError {
  const message = `Invalid value at '${path}' (${type}), ${JSON.stringify(value)?.slice(0, 80)}`;
  return new CloudError('badRequest', message);
}
