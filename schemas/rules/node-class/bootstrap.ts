import {
  unikraftNodeClasses,
  type UnikraftNodeClass,
  type UnikraftNodeClassSpec,
} from '../../nodeclass/types.ts';
import type { Rule } from '../rule.ts';
import { awsClass, gcpClass, nodeClass } from '../samples.ts';

const shared = {
  target: unikraftNodeClasses,
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
  code: 'KPU381',
} as const satisfies Partial<Rule>;

const bootstrap: NonNullable<UnikraftNodeClassSpec['bootstrap']> = {
  mode: 'Callback',
  callback: { url: 'https://bootstrap.example.com:8443' },
};
const serviceAccount = 'machine@machines-1234.iam.gserviceaccount.com';
const onAws = (spec: Pick<UnikraftNodeClassSpec, 'bootstrap'>): UnikraftNodeClass => {
  const { aws } = awsClass({ instanceProfile: 'machine' }).spec;
  return nodeClass({ ...(aws && { aws }), ...spec });
};

/** What a machine needs to call for its secrets. */
export const bootstrapRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-callback-has-url',
    path: 'spec.bootstrap',
    cel: "(has(self.mode) && self.mode == 'Callback') == has(self.callback)",
    message: 'Mode Callback and spec.bootstrap.callback go together, and one of them is missing.',
    fix: 'Set spec.bootstrap.mode to Callback and spec.bootstrap.callback.url, or neither.',
    docs: 'A machine that does not know where to call would never start.',
    accepts: [nodeClass(), nodeClass({ bootstrap: { mode: 'UserData' } }), onAws({ bootstrap })],
    rejects: [
      onAws({ bootstrap: { mode: 'Callback' } }),
      onAws({ bootstrap: { ...bootstrap, mode: 'UserData' } }),
    ],
  },
  {
    ...shared,
    name: 'node-class-caller-has-identity',
    path: 'spec',
    cel: "!has(self.bootstrap) || !has(self.bootstrap.mode) || self.bootstrap.mode != 'Callback' || (has(self.aws) ? has(self.aws.instanceProfile) : !has(self.gcp) || has(self.gcp.serviceAccount))",
    message:
      'Machines that call for their secrets prove who they are by an identity of the cloud, and these get none.',
    fix: 'Set spec.aws.instanceProfile or spec.gcp.serviceAccount.',
    docs: 'Without it whoever reads the user data first could call in place of the machine.',
    accepts: [nodeClass(), onAws({ bootstrap }), gcpClass({ serviceAccount }, { bootstrap })],
    rejects: [nodeClass({ bootstrap }), gcpClass({}, { bootstrap })],
  },
];
