import { unikraftNodeClasses } from '../../nodeclass/types.ts';
import type { UnikraftNodeClassSpec } from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { nodeClass } from '../samples.ts';
import { listOf, noTime, oneLine } from '../text.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
} as const satisfies Partial<Rule>;

const valued = (values: Record<string, unknown>): ReturnType<typeof nodeClass> => {
  const sample = nodeClass();
  return nodeClass({ kraftlet: { ...sample.spec.kraftlet, values } });
};

const valid = (duration: string): Partial<UnikraftNodeClassSpec> => ({
  certificate: { api: { mode: 'PrivateCA', duration } },
});

/** What the operator gives the chart itself, whatever the class says. */
const forced = {
  node: ['name', 'providerId', 'architecture', 'labels', 'taint'],
  ukc: ['metro', 'token'],
  kraftlet: ['replication', 'enablePvcWatcher'],
} as const;

function leavesAlone(group: keyof typeof forced): string {
  return `(!has(self.${group}) || self.${group}.all(k, !(k in ${listOf(forced[group])})))`;
}

/** How a machine becomes a Node. */
export const joiningRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-deadlines-leave-time',
    code: 'KPU119',
    severity: 'deny',
    path: 'spec.deadlines.{launch,healthy,registration}',
    cel: `!${noTime}`,
    message: 'A deadline of nothing is over at once, so every machine would be given up.',
    fix: 'Set minutes, or remove it for the default.',
    docs: 'A metal machine takes minutes to start.',
    accepts: [nodeClass({ deadlines: { launch: '5m', healthy: '1h0m' } }), nodeClass()],
    rejects: [
      nodeClass({ deadlines: { launch: '0s' } }),
      nodeClass({ deadlines: { healthy: '0h0m', registration: '5m' } }),
    ],
  },
  {
    ...shared,
    name: 'node-class-certificate-is-valid-for-some-time',
    code: 'KPU119',
    severity: 'deny',
    path: 'spec.certificate.api.duration',
    cel: `!${noTime}`,
    message:
      'The certificate would be over before the machine is up, so Kraftlet would never trust it.',
    fix: 'Remove it, so that the certificate lives as long as the machine may.',
    docs: 'It is fixed at launch and cannot be renewed on the machine.',
    accepts: [nodeClass(valid('720h')), nodeClass()],
    rejects: [nodeClass(valid('0s'))],
  },
  {
    ...shared,
    name: 'node-class-values-are-not-overruled',
    code: 'KPU123',
    severity: 'warn',
    path: 'spec.kraftlet.values',
    cel: oneLine(
      `${(['node', 'ukc', 'kraftlet'] as const).map(leavesAlone).join(' && ')} && !has(self.priorityClassName)`,
    ),
    message:
      'Some of these values are decided by the operator for each machine, and what stands here is not used.',
    fix: 'Remove node.{name,providerId,architecture,labels,taint}, ukc.{metro,token}, kraftlet.{replication,enablePvcWatcher} and priorityClassName.',
    docs: 'A Kraftlet of another name, endpoint or taint would front no machine of ours.',
    accepts: [
      valued({ kraftlet: { logLevel: 'debug' }, image: { tag: '0.6.0' } }),
      valued({ node: { annotations: { note: 'a' } } }),
    ],
    rejects: [
      valued({ node: { name: 'mine' } }),
      valued({ ukc: { token: 'secret' } }),
      valued({ kraftlet: { replication: { enabled: true } } }),
      valued({ priorityClassName: 'low' }),
    ],
  },
];
