import { unikraftNodeClasses, type UnikraftNodeClassSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { nodeClass } from '../samples.ts';

type Api = UnikraftNodeClassSpec['certificate']['api'];

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  path: 'spec.certificate.api',
} as const satisfies Partial<Rule>;

const own = { name: 'machines-tls' };
const acme = { directoryURL: 'https://acme-v02.api.letsencrypt.org/directory' };
const zone = 'machines.example.com';
const tsig = { name: 'kpu', secretRef: { name: 'dns-key' } };
const proven = (dns: UnikraftNodeClassSpec['dns']): ReturnType<typeof nodeClass> =>
  nodeClass({ dns, certificate: { api: { mode: 'ACME', acme } } });
const by = (api: Api): ReturnType<typeof nodeClass> => nodeClass({ certificate: { api } });

/** What goes together for the certificates of machines. */
export const certificateRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-certificate-has-its-source',
    code: 'KPU368',
    severity: 'deny',
    cel:
      "(self.mode != 'SecretRef' || has(self.secretRef)) && (self.mode != 'CertManager' || has(self.issuerRef))" +
      " && (self.mode != 'ACME' || has(self.acme))",
    message: 'The mode needs a field that is not set, so no machine would get a certificate.',
    fix: 'Set secretRef for SecretRef, issuerRef for CertManager, or acme for ACME.',
    docs: 'There is no default that could be meant.',
    accepts: [
      by({ mode: 'SecretRef', secretRef: own }),
      by({ mode: 'CertManager', issuerRef: own }),
      by({ mode: 'ACME', acme }),
      nodeClass(),
    ],
    rejects: [by({ mode: 'SecretRef' }), by({ mode: 'CertManager' }), by({ mode: 'ACME' })],
  },
  {
    ...shared,
    name: 'node-class-certificate-fields-are-of-its-mode',
    code: 'KPU368',
    severity: 'deny',
    cel:
      "(self.mode == 'PrivateCA' || !has(self.caSecretRef)) && (self.mode == 'SecretRef' || !has(self.secretRef))" +
      " && (self.mode == 'CertManager' || !has(self.issuerRef)) && (self.mode == 'ACME' || !has(self.acme))" +
      " && (self.mode in ['PrivateCA', 'CertManager'] || !has(self.duration))",
    message: 'A field of spec.certificate.api is not for its mode.',
    fix: 'Use caSecretRef with mode PrivateCA, secretRef with SecretRef, issuerRef with CertManager, acme with ACME, and duration with PrivateCA and CertManager.',
    docs: 'It would look as if it mattered.',
    accepts: [
      by({ mode: 'PrivateCA', caSecretRef: own, duration: '720h' }),
      by({ mode: 'SecretRef', secretRef: own }),
      by({ mode: 'CertManager', issuerRef: own, duration: '720h' }),
      by({ mode: 'None' }),
    ],
    rejects: [
      by({ mode: 'PrivateCA', secretRef: own }),
      by({ mode: 'SecretRef', secretRef: own, caSecretRef: own }),
      by({ mode: 'SecretRef', secretRef: own, duration: '720h' }),
      by({ mode: 'PrivateCA', issuerRef: own }),
      by({ mode: 'PrivateCA', acme }),
      by({ mode: 'ACME', acme, duration: '720h' }),
      by({ mode: 'None', secretRef: own }),
      by({ mode: 'None', duration: '720h' }),
    ],
  },
  {
    ...shared,
    path: 'spec',
    name: 'node-class-challenges-can-be-answered',
    code: 'KPU368',
    severity: 'deny',
    cel: "self.certificate.api.mode != 'ACME' || !(self.dns.provider in ['None', 'ExternalDNS'])",
    message:
      'ACME needs a text in the zone, which the operator does not write with this DNS provider.',
    fix: 'Set spec.dns.provider to Route53, CloudDNS or RFC2136, or use PrivateCA.',
    docs: 'The authority looks for a challenge in the zone before it signs.',
    accepts: [
      by({ mode: 'ACME', acme }),
      proven({ provider: 'CloudDNS', zone, project: 'machines-1234' }),
      proven({ provider: 'RFC2136', zone, server: 'ns1.example.com', tsig }),
      nodeClass({ dns: { provider: 'None', zone } }),
    ],
    rejects: [proven({ provider: 'None', zone }), proven({ provider: 'ExternalDNS', zone })],
  },
  {
    ...shared,
    name: 'node-class-certificate-is-checked',
    code: 'KPU367',
    severity: 'warn',
    cel: "self.mode != 'None'",
    message:
      'Nobody checks who answers for a machine, so whoever is on the way can take its tokens and run in its place.',
    fix: 'Use PrivateCA, which needs nothing else.',
    docs: 'The controller and Kraftlet send their tokens to whatever answers at the address of a machine.',
    accepts: [nodeClass(), by({ mode: 'SecretRef', secretRef: own })],
    rejects: [by({ mode: 'None' })],
  },
];
