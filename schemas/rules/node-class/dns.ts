import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { nodeClass } from '../samples.ts';
import { oneLine } from '../text.ts';

type Dns = UnikraftNodeClassSpec['dns'];

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
  code: 'KPU139',
  path: 'spec.dns',
} as const satisfies Partial<Rule>;

const zone = 'machines.example.com';
const server = 'ns1.example.com';
const tsig = { name: 'kpu', secretRef: { name: 'dns-key' } };
const named = (dns: Dns): ReturnType<typeof nodeClass> => nodeClass({ dns });

/** What goes together for a server that takes dynamic updates. */
export const dnsRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-updates-have-server-and-key',
    cel: "self.provider != 'RFC2136' || (has(self.server) && has(self.tsig))",
    message: 'Dynamic updates go to a server and are signed with a key, and not both are named.',
    fix: 'Set spec.dns.server and spec.dns.tsig.',
    docs: 'Without a key anybody who reaches the server could write to the zone.',
    accepts: [named({ provider: 'RFC2136', zone, server, tsig }), nodeClass()],
    rejects: [
      named({ provider: 'RFC2136', zone }),
      named({ provider: 'RFC2136', zone, server }),
      named({ provider: 'RFC2136', zone, tsig }),
    ],
  },
  {
    ...shared,
    name: 'node-class-server-is-for-updates',
    cel: oneLine(`
      (self.provider == 'RFC2136' || (!has(self.server) && !has(self.port) && !has(self.tsig))) &&
        (self.provider in ['Route53', 'CloudDNS'] || !has(self.zoneID))`),
    message: 'A field of spec.dns is not for its provider.',
    fix: 'Use server, port and tsig with provider RFC2136 alone, and zoneID with Route53 and CloudDNS.',
    docs: 'It would look as if it mattered.',
    accepts: [
      named({ provider: 'RFC2136', zone, server, port: 5353, tsig }),
      named({ provider: 'Route53', zone, zoneID: 'Z1' }),
      named({ provider: 'ExternalDNS', zone, appZone: `apps.${zone}` }),
    ],
    rejects: [
      named({ provider: 'Route53', zone, server }),
      named({ provider: 'Route53', zone, port: 53 }),
      named({ provider: 'Route53', zone, tsig }),
      named({ provider: 'RFC2136', zone, zoneID: 'Z1', server, tsig }),
      named({ provider: 'None', zone, zoneID: 'Z1' }),
      named({ provider: 'ExternalDNS', zone, zoneID: 'Z1' }),
      named({ provider: 'ExternalDNS', zone, tsig }),
      named({ provider: 'None', zone, server }),
    ],
  },
  {
    ...shared,
    name: 'node-class-names-are-published',
    code: 'KPU371',
    severity: 'warn',
    cel: "self.provider != 'None'",
    message: 'Machines have names that nobody but the operator and Kraftlet can look up.',
    fix: 'Nothing, where that is enough; else name who holds the zone in spec.dns.provider.',
    docs: 'Tools that look for the registry of a machine by its name do not find it.',
    accepts: [nodeClass()],
    rejects: [named({ provider: 'None', zone: 'machines.internal' })],
  },
  {
    ...shared,
    name: 'node-class-apps-have-names',
    cel: "self.provider != 'None' || !has(self.appZone)",
    message: 'Applications have names that nobody could look up.',
    fix: 'Remove spec.dns.appZone, or name who holds the zone in spec.dns.provider.',
    docs: 'Without DNS only the operator and Kraftlet know a machine by name.',
    accepts: [
      named({ provider: 'None', zone: 'machines.internal' }),
      named({ provider: 'Route53', zone, appZone: `apps.${zone}` }),
    ],
    rejects: [named({ provider: 'None', zone, appZone: `apps.${zone}` })],
  },
];
