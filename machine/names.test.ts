import { expect, test } from 'vitest';

import type { DnsSpec } from '#schemas/nodeclass/types.ts';

import { machineNames } from './names.ts';

const dns = (rest: Partial<DnsSpec> = {}): DnsSpec => ({
  provider: 'Route53',
  zone: 'machines.example.com',
  ...rest,
});

test('a machine is found as its tools expect: api, and index beside it', () => {
  expect(machineNames(dns(), 'web-3f2a91c0')).toEqual({
    api: 'api.web-3f2a91c0.machines.example.com',
    index: 'index.web-3f2a91c0.machines.example.com',
    apps: undefined,
    all: ['api.web-3f2a91c0.machines.example.com', 'index.web-3f2a91c0.machines.example.com'],
  });
});

test('an appZone adds a wildcard for the services', () => {
  const names = machineNames(dns({ appZone: 'apps.machines.example.com.' }), 'web-1');

  expect(names.apps).toBe('*.web-1.apps.machines.example.com');
  expect(names.all).toContain(names.apps);
});

test('a flat name has no registry beside it', () => {
  const names = machineNames(dns({ nameTemplate: 'api-{{ node }}.{{ zone }}' }), 'web-1');

  expect(names.all).toEqual(['api-web-1.machines.example.com']);
});

test.each([
  ['shared by all', { nameTemplate: 'api.{{zone}}' }, /has no \{\{node\}\}/],
  ['an unknown placeholder', { nameTemplate: 'api.{{node}}.{{claim}}' }, /not \{\{claim\}\}/],
  [
    'a placeholder that objects inherit',
    { nameTemplate: '{{node}}.{{toString}}' },
    /not \{\{toString\}\}/,
  ],
  ['outside the zone', { nameTemplate: 'api.{{node}}.example.org' }, /not in the zone/],
  ['no DNS name', { nameTemplate: 'api_{{node}}.{{zone}}' }, /not a DNS name/],
  ['apps elsewhere', { appZone: 'example.org' }, /spec\.dns\.appZone .* not in the zone/],
])('a template is refused with the place: %s', (_case, rest, message) => {
  expect(() => machineNames(dns(rest), 'web-1')).toThrow(message);
});
