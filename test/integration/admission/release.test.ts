import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { render, type Manifest } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import {
  CaBundle,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type WebhookConfiguration,
} from '#webhook/certificate/ca-bundle.ts';

import { kubectl } from '../webhook/installed-webhook.ts';

/**
 * A release that renames a hook and removes another, applied by each of the tools that people have. The CA bundle is
 * another's field in the same list, and must leave nothing behind when its hook goes.
 */

const tools = inject('tools');
const key = { name: 'karpenter-unikraft' };
const kinds = [mutatingWebhookConfigurations, validatingWebhookConfigurations];
let run: Run;
let plane: ControlPlane;
let now: Configuration[];
let next: Configuration[];

type Configuration = Manifest & Required<Pick<WebhookConfiguration, 'webhooks'>>;

beforeAll(async () => {
  run = await Run.open('release-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  const manifests = await render(tools.kubectl, 'kustomize/webhook');
  now = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration')) as Configuration[];
  next = now.map((one) => ({ ...one, webhooks: renamed(one.webhooks) }));
});

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

/** The last hook is gone where there are several, and the first has another name. */
function renamed([first, ...rest]: Configuration['webhooks']): Configuration['webhooks'] {
  if (!first) throw new Error('a configuration without hooks');
  return [{ ...first, name: `renamed-${first.name}` }, ...rest.slice(0, -1)];
}

type Apply = (configurations: readonly Configuration[]) => Promise<void>;

function serverSide(...args: string[]): Apply {
  return async (configurations) => {
    const words = ['apply', '--server-side', ...args, '-f', '-'];
    const items = { apiVersion: 'v1', kind: 'List', items: configurations };
    expect(await kubectl(plane, tools, words, items)).not.toMatch(/error|conflict/i);
  };
}

const appliers: readonly (readonly [string, Apply])[] = [
  ['Flux', serverSide('--field-manager=kustomize-controller', '--force-conflicts')],
  ['Argo CD, server-side', serverSide('--field-manager=argocd-controller', '--force-conflicts')],
  ['kubectl, server-side and without force', serverSide()],
  [
    'Argo CD and kubectl, client-side',
    async (configurations) => {
      const items = { apiVersion: 'v1', kind: 'List', items: configurations };
      expect(await kubectl(plane, tools, ['apply', '-f', '-'], items)).not.toMatch(/error/i);
    },
  ],
];

async function live(): Promise<WebhookConfiguration[]> {
  return Promise.all(kinds.map(async (kind) => plane.admin.get(kind, key)));
}

/** All that is in Git, and the bundle of each apart. */
function split(found: readonly WebhookConfiguration[]): { hooks: object[][]; bundles: unknown[] } {
  const all = found.map(({ webhooks = [] }) => webhooks);
  return {
    hooks: all.map((webhooks) => webhooks.map(withoutBundle)),
    bundles: all.flat().map(({ clientConfig }) => clientConfig.caBundle),
  };
}

function withoutBundle({ clientConfig, ...hook }: Configuration['webhooks'][number]): object {
  const { caBundle: _, ...rest } = clientConfig;
  return { ...hook, clientConfig: rest };
}

const wanted = (configurations: readonly Configuration[]): object[][] =>
  configurations
    .toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
    .map(({ webhooks }) => webhooks as object[]);

describe.each(appliers)('applied by %s', (_, apply) => {
  const bundle = new Set<unknown>();

  test('the first release reads back as it stands in Git, before and after it has its bundle', async () => {
    await apply(now);
    expect(split(await live()).hooks).toEqual(wanted(now));
    await new CaBundle(plane.admin).publish('first');
    const { hooks, bundles } = split(await live());
    expect(hooks).toEqual(wanted(now));
    bundles.forEach((one) => bundle.add(one));
    expect([...bundle]).toEqual([Buffer.from('first').toString('base64')]);
  });

  test('a second time, it takes no bundle away and changes nothing', async () => {
    const before = await live();
    await apply(now);
    const after = await live();
    expect(after.map(({ metadata }) => metadata?.generation)).toEqual(
      before.map(({ metadata }) => metadata?.generation),
    );
    expect(split(after)).toEqual(split(before));
  });

  test('the next release has its hooks and no trace of those that went', async () => {
    await apply(next);
    expect(split(await live()).hooks).toEqual(wanted(next));
    await new CaBundle(plane.admin).publish('second');
    const { hooks, bundles } = split(await live());
    expect(hooks).toEqual(wanted(next));
    expect(new Set(bundles)).toEqual(new Set([Buffer.from('second').toString('base64')]));
  });

  test('and going back is the same', async () => {
    await apply(now);
    expect(split(await live()).hooks).toEqual(wanted(now));
    await Promise.all(kinds.map(async (kind) => plane.admin.delete(kind, key)));
  });
});

test('policies of a release that are not in the next one are named by one label, for tools that prune by it', async () => {
  const policies = await render(tools.kubectl, 'kustomize/policies');
  await applyAll(plane.admin, policies);
  const printed = await kubectl(plane, tools, [
    'delete',
    'validatingadmissionpolicies,validatingadmissionpolicybindings',
    '--selector=app.kubernetes.io/part-of=karpenter-provider-unikraft,app.kubernetes.io/component=rules',
  ]);
  expect(printed.match(/deleted/g)).toHaveLength(policies.length);
});
