import { describe, expect, test } from 'vitest';

import { NodeClassError } from '../errors.ts';
import type { ReleaseRequest } from './release.ts';
import { valuesFor } from './values.ts';

/** @param env  as a user writes it below `kraftlet.values.kraftlet` */
function valuesWith(env: unknown): Record<string, unknown> {
  const request: ReleaseRequest = {
    identity: {
      clusterUid: 'cluster',
      claimUid: 'uid-of-web',
      claim: 'web-x7k2p',
      name: 'web-3f2a91c0',
      nodeClass: 'default',
      nodePool: 'web',
    },
    kraftlet: { chart: 'chart', version: '1.0.0', values: { kraftlet: { env } } },
    endpoint: {
      fqdn: 'api.web.example.com',
      port: 443,
      address: '192.0.2.1',
      token: 't',
      ca: undefined,
    },
    providerID: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
    architecture: 'amd64',
    nodeLabels: {},
    nodeTaint: { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
    hostAliases: [],
  };
  return valuesFor(request);
}

describe.each([
  'KRAFTLET_NODE_NAME',
  'KRAFTLET_NODE_LABELS',
  'KRAFTLET_NODE_PROVIDER_ID',
  'KRAFTLET_ENABLE_NODE_TAINT',
  'KRAFTLET_NODE_TAINT_KEY',
  'KRAFTLET_NODE_TAINT_VALUE',
  'KRAFTLET_NODE_TAINT_EFFECT',
  'KRAFTLET_ENABLE_PVC_WATCHER',
  'KRAFTLET_UKC_TOKEN',
  'KRAFTLET_UKC_DEFAULT_METRO',
  'KRAFTLET_POD_FINALIZER',
])('a node class may not set %s', (name) => {
  test.each([
    ['map', { [name]: 'x', TZ: 'UTC' }],
    [
      'list',
      [
        { name: 'TZ', value: 'UTC' },
        { name, value: 'x' },
      ],
    ],
  ])('in a %s of variables', (_, env) => {
    expect(() => valuesWith(env)).toThrow(NodeClassError);
    expect(() => valuesWith(env)).toThrow(`sets ${name}, which the operator sets`);
  });
});

test.each([[{ KRAFTLET_POD_SYNC_WORKERS: '20' }], [[{ name: 'TZ', value: 'UTC' }]], [[]], [{}]])(
  'variables that are nobody else’s are handed on: %j',
  (env) => {
    expect(valuesWith(env)['kraftlet']).toMatchObject({ env });
  },
);
