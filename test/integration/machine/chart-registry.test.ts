/** Kraftlet's chart from a registry, by the real Helm: what is pulled, and what people read when it cannot be. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';

import { HelmReleases } from '#machine/kraftlet/helm-releases.ts';
import { HelmBinary } from '#machine/kraftlet/helm.ts';
import type { ReleaseRequest } from '#machine/kraftlet/release.ts';
import { failureOf } from '#machine/testing/ec2.ts';
import { identity } from '#machine/testing/machines.ts';
import { Authority } from '#pki/authority.ts';
import { chartArchive } from '#sandbox/registry/chart-archive.ts';
import { ChartRegistry } from '#sandbox/registry/registry.ts';
import { taints } from '#schemas/names.ts';
import type { KraftletSpec } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { chart } from '#test/world/objects.ts';

const { signal } = new AbortController();
const { helm } = inject('tools');
const releases = new HelmReleases({ helm: new HelmBinary(helm), namespaces: ['kraftlet'] });
let registry: ChartRegistry;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kpu-registry-'));
  const authority = await Authority.create(new SystemClock(), {
    commonName: 'registries',
    validity: hours(1),
  });
  const pair = await authority.issue({ names: ['localhost'], validity: hours(1) });
  await writeFile(join(directory, 'ca.crt'), authority.pem.certificate);
  registry = await ChartRegistry.start(pair, 'reader:secret');
  for (const version of ['0.6.0', '0.7.0']) {
    // oxlint-disable-next-line no-await-in-loop -- two of them
    registry.push('charts/kraftlet', version, await chartArchive(helm, chart, version));
  }
  registry.push('charts/image', '0.6.0', Buffer.from('no chart'), 'image');
});
beforeEach(async () => {
  await login('reader:secret');
  vi.stubEnv('SSL_CERT_FILE', join(directory, 'ca.crt'));
  vi.stubEnv('DOCKER_CONFIG', directory);
});
afterEach(() => {
  registry.isAltering = false;
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await registry?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** As `docker login` leaves it. */
async function login(as: string): Promise<void> {
  const auths = { [registry.host]: { auth: Buffer.from(as).toString('base64') } };
  await writeFile(join(directory, 'config.json'), JSON.stringify({ auths }));
}

const kraftlet = (spec: Partial<KraftletSpec> = {}): KraftletSpec => ({
  chart: `oci://${registry.host}/charts/kraftlet`,
  version: '0.6.0',
  ...spec,
});

async function chartOf(spec: KraftletSpec): Promise<string | undefined> {
  const request: ReleaseRequest = {
    identity,
    kraftlet: spec,
    endpoint: {
      fqdn: 'api.web-1.example.com',
      address: '10.0.0.7',
      port: 443,
      token: 't',
      ca: 'PEM',
    },
    providerID: 'unikraft://aws/eu-central-1/eu-central-1a/i-1',
    architecture: 'amd64',
    nodeLabels: {},
    nodeTaint: taints.unregistered,
    hostAliases: [],
  };
  const objects = await releases.render(request, signal);
  const set = objects.find(({ kind }) => kind === 'StatefulSet');
  return set?.metadata?.labels?.['helm.sh/chart'];
}

test('a chart is pulled with the login that is mounted, in the version that is asked for', async () => {
  expect(await chartOf(kraftlet())).toBe('kraftlet-0.6.0');
  expect(await chartOf(kraftlet({ version: '0.7.0' }))).toBe('kraftlet-0.7.0');
  expect(registry.asked).toContain('/v2/charts/kraftlet/manifests/0.7.0');
});

test('what was pulled once is not asked for again by the next machine of the same spec', async () => {
  await chartOf(kraftlet());
  registry.asked.length = 0;
  expect(await chartOf(kraftlet())).toBe('kraftlet-0.6.0');
  expect(registry.asked).toEqual([]);
});

interface Trouble {
  readonly spec?: () => Partial<KraftletSpec>;
  readonly happen?: () => unknown;
  readonly words: RegExp;
  readonly code?: string;
}

const troubles: Record<string, Trouble> = {
  'a version that is not there': {
    spec: () => ({ version: '9.9.9' }),
    words: /charts\/kraftlet:9\.9\.9: not found$/,
  },
  'another kind of artifact': {
    spec: () => ({ chart: `oci://${registry.host}/charts/image` }),
    words: /could not load config with mediatype application\/vnd\.cncf\.helm\.config/,
  },
  'a login that is refused': {
    happen: async () => login('reader:wrong'),
    words: /response status code 401: unauthorized/,
  },
  'a chart that is altered on the way': {
    happen: () => {
      registry.isAltering = true;
    },
    words: /mismatched digest$/,
  },
  'a registry that nobody vouches for': {
    happen: () => vi.stubEnv('SSL_CERT_FILE', join(directory, 'config.json')),
    words: /certificate signed by unknown authority$/,
  },
  'a registry that is not there': {
    spec: () => ({ chart: 'oci://localhost:1/charts/kraftlet' }),
    words: /connection refused$/,
  },
  'values that the chart cannot use': {
    spec: () => ({ values: { image: 'text' } }),
    words: /^spec\.kraftlet\.values: Helm says: Error: kraftlet\/templates\/statefulset\.yaml:\d+/,
    code: 'KPU262',
  },
};

test.each(Object.entries(troubles))(
  '%s is told with its code, in Helm’s words',
  async (_, { spec, happen, words, code = 'KPU260' }) => {
    await happen?.();

    const failure = await failureOf(releases.probe(kraftlet(spec?.()), signal));

    expect(failure).toMatchObject({ code, condition: 'KraftletReady', next: 'node-class' });
    expect(failure.message).toMatch(words);
  },
);
