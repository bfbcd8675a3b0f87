import { isDeepStrictEqual } from 'node:util';

import { applyPatch } from 'rfc6902';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';

import { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { render } from '#sandbox/manifests/render.ts';
import { Run } from '#sandbox/processes/run.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { namespaces, pods, resource, serviceAccounts } from '#schemas/kubernetes/resource.ts';
import { corpus } from '#schemas/rules/corpus.ts';
import { injectInto } from '#webhook/injection.ts';

import { inject_, others, podWith, selector, ukc } from '../webhook/pods.ts';
import { inParallel } from './asking.ts';

/**
 * Injection by the API server's own policy (1.36 and later), without any process of ours: it has to do to each Pod what
 * the webhook would do.
 */

const tools = inject('tools');
const optedIn = 'opted-in';
const excluded = new Set(['kube-system']);
let run: Run;
let plane: ControlPlane;
const before = new Map<string, Pod>();

const { operator: _, ...withoutOperator } = ukc;

const wishes: readonly (readonly [string, Pod])[] = [
  ['by label', podWith({ labels: { [inject_]: 'true' } })],
  ['by toleration', podWith({}, { tolerations: [ukc] })],
  ['by a toleration without operator', podWith({}, { tolerations: [withoutOperator] })],
  ['by selector', podWith({}, { nodeSelector: selector })],
  ['and selects more', podWith({ labels: { [inject_]: 'true' } }, { nodeSelector: { a: 'b' } })],
  [
    'and tolerates more',
    podWith({ labels: { [inject_]: 'true' } }, { tolerations: [{ key: 'a', operator: 'Exists' }] }),
  ],
  [
    'and tolerates all',
    podWith({ labels: { [inject_]: 'true' } }, { tolerations: [{ operator: 'Exists' }] }),
  ],
  [
    'and tolerates only evictions',
    podWith({ labels: { [inject_]: 'true' } }, { tolerations: [{ ...ukc, effect: 'NoExecute' }] }),
  ],
  [
    'and shares the host’s network',
    podWith({ labels: { [inject_]: 'true' } }, { hostNetwork: true }),
  ],
  [
    'and selects other nodes',
    podWith(
      { labels: { [inject_]: 'true' } },
      { nodeSelector: { 'unikraft.com/virtual-kubelet': 'false' } },
    ),
  ],
  [
    'and is for Windows',
    podWith({ labels: { [inject_]: 'true' } }, { nodeSelector: { 'kubernetes.io/os': 'windows' } }),
  ],
];

/** Of the corpus, as a stranger's Pods: with the token that the server gives each, and nobody that owns them. */
const generated = corpus()
  .filter(({ object, operation, odd }) => object.kind === 'Pod' && operation === 'CREATE' && !odd)
  .map(({ name, object }): readonly [string, Pod] => [
    name,
    podWith(object.metadata as ObjectMeta, (object as Pod).spec),
  ]);

const all = [...wishes, ...others, ...generated].map(
  ([why, pod]) => [why, { ...pod, metadata: { ...pod.metadata, name: 'subject' } }] as const,
);

beforeAll(async () => {
  run = await Run.open('mutating-policy-test');
  plane = await ControlPlane.start({ tools, run, audit: false });
  const namespace = { metadata: { name: optedIn, labels: { [inject_]: 'true' } } };
  await plane.admin.create(namespaces, namespace);
  await vi.waitFor(async () =>
    plane.admin.get(serviceAccounts, { namespace: optedIn, name: 'default' }),
  );
  await inParallel(all, async ([why, pod]) => before.set(why, await tried(pod)));
  const policies = await render(tools.kubectl, 'kustomize/components/mutating-policy');
  await applyAll(plane.admin, policies);
  await vi.waitFor(
    async () => {
      const here = await tried(podWith({ labels: { [inject_]: 'true' } }));
      const there = await tried(podWith({ namespace: optedIn }));
      if (!here.spec?.nodeSelector || !there.spec?.nodeSelector) throw new Error('not in force');
    },
    { timeout: 60_000, interval: 250 },
  );
}, 180_000);

afterAll(async () => {
  await plane?.stop();
  await run?.close();
});

async function tried(pod: Pod): Promise<Pod> {
  return plane.admin.create(pods, pod, { dryRun: true });
}

function injected(pod: Pod, byNamespace = false): Pod {
  const decision = injectInto(
    {
      uid: 'u',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      operation: 'CREATE',
      namespace: pod.metadata?.namespace ?? 'default',
      object: { apiVersion: 'v1', kind: 'Pod', ...pod },
    },
    { excluded, byNamespace },
  );
  const patched = structuredClone(pod);
  const patch = decision.allowed ? (decision.patch ?? []) : [];
  const [trouble] = applyPatch(patched, [...patch]).filter((one) => one !== null);
  if (trouble) throw trouble;
  return patched;
}

function comparable({ metadata, ...rest }: KubeObject): object {
  const { uid: _, creationTimestamp: __, managedFields: ___, ...meta } = metadata ?? {};
  return { ...rest, metadata: meta };
}

describe('the policy does to a Pod what the webhook does', () => {
  test.each([...wishes, ...others])('that opts in, or not, %s', async (why, pod) => {
    const subject = { ...pod, metadata: { ...pod.metadata, name: 'subject' } };
    const answer = await tried(subject);
    // The webhook sees what the server has made of the Pod so far; without a hook that is what it stores.
    expect(comparable(answer)).toEqual(comparable(injected(before.get(why)!)));
  });

  test('to all Pods of the corpus', async () => {
    const differing = await inParallel(generated, async ([why, pod]) => {
      const answer = await tried({ ...pod, metadata: { ...pod.metadata, name: 'subject' } });
      const [is, wanted] = [comparable(answer), comparable(injected(before.get(why)!))];
      return isDeepStrictEqual(withoutToken(is), withoutToken(wanted)) ? [] : [{ why, is, wanted }];
    });
    console.log(`mutating policy: ${generated.length} Pods, ${differing.flat().length} differ`);
    expect(generated.length).toBeGreaterThan(100);
    expect(differing.flat()).toEqual([]);
  });

  test('in a namespace that opts in, and where both ask, each once', async () => {
    for (const [why, pod] of wishes) {
      const there = { ...pod, metadata: { ...pod.metadata, name: 'subject', namespace: optedIn } };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await tried(there);
      const { nodeSelector } = injected(there, true).spec ?? {};
      expect(answer.spec?.nodeSelector).toEqual(nodeSelector);
      const both = injected(before.get(why)!, true).spec?.tolerations;
      expect(answer.spec?.tolerations).toEqual(both);
    }
  });
});

/** A token's volume has a random name. */
function withoutToken(value: object): object {
  return JSON.parse(JSON.stringify(value).replaceAll(/kube-api-access-\w+/g, 'token')) as object;
}

describe('the policy', () => {
  test('does nothing to what it has done', async () => {
    const once = await tried(podWith({ labels: { [inject_]: 'true' } }));
    const { uid: _, creationTimestamp: __, managedFields: ___, ...metadata } = once.metadata ?? {};
    const twice = await tried({ ...once, metadata });
    expect(comparable(twice)).toEqual(comparable(once));
  });

  test('is asked again after others, and still adds each once', async () => {
    await applyAll(plane.admin, laterPolicy);
    const subject = podWith({ labels: { [inject_]: 'true', late: 'true' } });
    const answer = await vi.waitFor(
      async () => {
        const found = await tried(subject);
        if (!found.metadata?.annotations?.['late']) throw new Error('the other is not in force');
        return found;
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(answer.spec?.nodeSelector).toEqual(selector);
    expect(answer.spec?.tolerations?.filter(({ key }) => key === ukc.key)).toHaveLength(1);
  });

  test('reads back as it stands in Git', async () => {
    const manifests = await render(tools.kubectl, 'kustomize/components/mutating-policy');
    const live = await plane.admin.list(policies);
    for (const manifest of manifests.filter(({ kind }) => kind === policies.kind)) {
      const found = live.items.find(({ metadata }) => metadata.name === manifest.metadata.name);
      expect(found?.spec).toEqual((manifest as KubeObject & { spec: object }).spec);
    }
  });
});

const policies = resource<KubeObject & { spec?: object }>(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicy',
  'mutatingadmissionpolicies',
  'Cluster',
);

/** Somebody else's, that comes after ours by its name and opts Pods in. */
const laterPolicy = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'z-later' },
    spec: {
      reinvocationPolicy: 'IfNeeded',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      matchConditions: [
        {
          name: 'late',
          expression:
            "has(object.metadata.labels) && 'late' in object.metadata.labels && !has(object.metadata.annotations)",
        },
      ],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{annotations: {'late': 'true'}, labels: {'${inject_}': 'true'}}}`,
          },
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: 'z-later' },
    spec: { policyName: 'z-later' },
  },
];
