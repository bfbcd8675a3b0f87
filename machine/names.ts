import type { DnsSpec } from '#schemas/nodeclass/types.ts';

import { NodeClassError } from './errors.ts';
import { faults } from './faults.ts';

/** The names that one machine answers to. */
export interface MachineNames {
  /** The platform's API; also what the certificate is for and Kraftlet is pointed at. */
  readonly api: string;
  /** The registry, where tools look for it: the API's name with `index` in place of `api`. Absent for other templates. */
  readonly index: string | undefined;
  /** Wildcard of the services on the machine; absent without an appZone. */
  readonly apps: string | undefined;
  /** All of the above: what DNS and the certificate must cover. */
  readonly all: readonly string[];
}

/** Whether anybody but the operator and Kraftlet can look a machine's names up. */
export function isPublished({ provider }: DnsSpec): boolean {
  return provider !== 'None';
}

const defaultTemplate = 'api.{{node}}.{{zone}}';

/**
 * What a machine is called under a node class's DNS settings.
 *
 * @param node  the machine's short name, one DNS label
 * @throws NodeClassError (ValidationSucceeded) for a template without `{{node}}`, with another placeholder, outside
 *   the zone, or whose result is no DNS name
 * Source: the platform's tools find a registry by swapping the first label `api.` for `index.` (Unikraft CLI).
 */
export function machineNames(dns: DnsSpec, node: string): MachineNames {
  const template = dns.nameTemplate ?? defaultTemplate;
  const zone = withoutDot(dns.zone);
  if (!/\{\{\s*node\s*\}\}/.test(template)) {
    refuse(`spec.dns.nameTemplate ${template} has no {{node}}, so all machines would share a name`);
  }
  const api = checked(fill(template, { node, zone }), 'spec.dns.nameTemplate', zone);
  const index = api.startsWith('api.') ? api.replace(/^api\./, 'index.') : undefined;
  const appZone = dns.appZone === undefined ? undefined : withoutDot(dns.appZone);
  const apps =
    appZone === undefined
      ? undefined
      : `*.${checked(`${node}.${appZone}`, 'spec.dns.appZone', zone)}`;
  return { api, index, apps, all: [api, index, apps].filter((name) => name !== undefined) };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{\s*(.*?)\s*\}\}/g, (_, key: string) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (value === undefined) {
      refuse(`spec.dns.nameTemplate knows {{node}} and {{zone}}, not {{${key}}}`);
    }
    return value;
  });
}

/** @param zone  the one zone that we write to; names outside it could never be made */
function checked(name: string, path: string, zone: string): string {
  if (name !== zone && !name.endsWith(`.${zone}`)) {
    refuse(`${path} gives ${name}, which is not in the zone ${zone}`);
  }
  const labels = name.split('.');
  const isName = labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  if (!isName || name.length > 253) refuse(`${path} gives ${name}, which is not a DNS name`);
  return name;
}

function withoutDot(zone: string): string {
  return zone.toLowerCase().replace(/\.$/, '');
}

function refuse(problem: string): never {
  throw new NodeClassError(faults.namesInvalid, `${problem}.`);
}
