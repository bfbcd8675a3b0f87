/**
 * What a webhook adds to the creation of Pods, seen from outside the API server: of all Pods in a namespace, whether or
 * not it is called for them, since that is what a cluster pays.
 *
 * The do-nothing peer is installed by the same two configurations, for every Pod: to tell which Pods are its own is part
 * of what ours does. So for Pods that opt in both are called alike, and what those alone pay is told beside.
 * A namespace for each, and one for none, so that nothing has to be switched between slices.
 */
import { fileURLToPath } from 'node:url';

import type { KubeClient } from '#kube/client/client.ts';
import type { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import { render, type Manifest } from '#sandbox/manifests/render.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import { namespaces, pods, serviceAccounts } from '#schemas/kubernetes/resource.ts';
import { milliseconds, seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { Target } from './caller.ts';
import { podOf } from './reviews.ts';
import { arms, isValid, type Arm, type Slice } from './statistics.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const armLabel = 'bench-arm';
const namespaceOf = (arm: Arm): string => `bench-${arm}`;
const perSecond = 100;

interface Hook {
  readonly name: string;
  readonly clientConfig: { readonly service: { readonly path: string } };
  readonly namespaceSelector: { readonly matchExpressions?: readonly object[] };
}
type Configuration = Manifest & { readonly webhooks: readonly Hook[] };

/** Ours keeps its names, under which it writes its bundle; for the peer, the same under another name. */
export async function installBoth(
  plane: ControlPlane,
  tools: Tools,
  { ours, go }: { readonly ours: Target; readonly go: Target },
): Promise<void> {
  await Promise.all(arms.map(async (arm) => makeNamespace(plane.admin, arm)));
  const manifests = await render(tools.kubectl, `${root}/kustomize/webhook`);
  const configurations = manifests.filter(({ kind }) =>
    kind.endsWith('WebhookConfiguration'),
  ) as Configuration[];
  await applyAll(plane.admin, [
    ...configurations.map((one) => calling(one, 'ours', ours)),
    ...configurations.map((one) => calling(onEveryPod(one), 'go', go)),
  ]);
}

async function makeNamespace(client: KubeClient, arm: Arm): Promise<void> {
  const name = namespaceOf(arm);
  await client.create(namespaces, { metadata: { name, labels: { [armLabel]: arm } } });
  for (let tries = 0; tries < 100; tries++) {
    // oxlint-disable-next-line no-await-in-loop -- until the account that Pods need is there
    const { items } = await client.list(serviceAccounts, { namespace: name });
    if (items.length > 0) return;
    await new Promise((done) => setTimeout(done, 100)); // oxlint-disable-line no-await-in-loop
  }
  throw new Error(`namespace ${name} has no ServiceAccount after 10 s`);
}

/** Under another name, and without the conditions by which the API server knows whom not to call for. */
function onEveryPod({ metadata, ...configuration }: Configuration): Configuration {
  const webhooks = configuration.webhooks
    .filter(({ name }) => name === 'pods.karpenter.unikraft.com' || name.startsWith('pods.rules.'))
    .map((hook) => ({ ...hook, matchConditions: [] }));
  return { ...configuration, metadata: { ...metadata, name: 'bench-do-nothing' }, webhooks };
}

function calling(configuration: Configuration, arm: Arm, { port, ca }: Target): Manifest {
  const caBundle = Buffer.from(ca).toString('base64');
  const only = { key: armLabel, operator: 'In', values: [arm] };
  return {
    ...configuration,
    webhooks: configuration.webhooks.map((hook) => ({
      ...hook,
      clientConfig: { url: `https://localhost:${port}${hook.clientConfig.service.path}`, caBundle },
      namespaceSelector: {
        matchExpressions: [...(hook.namespaceSelector.matchExpressions ?? []), only],
      },
    })),
  } as Manifest;
}

export interface Samples {
  /** Milliseconds of each Pod that opts in, which is every second one; the others never reach ours. */
  readonly optedIn: number[];
  readonly others: number[];
  errors: number;
}

/** Resolves once Pods come back from ours with what it adds, so that it is known to be called. */
export async function untilCalled(client: KubeClient, clock: Clock): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    // oxlint-disable-next-line no-await-in-loop -- one try after the other
    const { spec } = await client.create(pods, podOf(namespaceOf('ours'), true), { dryRun: true });
    if (spec?.nodeSelector) return;
    await clock.sleep(milliseconds(100)); // oxlint-disable-line no-await-in-loop
  }
  throw new Error('Pods do not come back injected after 20 s');
}

/** Pods at a steady rate, whether they are answered or not. */
async function measure(
  client: KubeClient,
  clock: Clock,
  arm: Arm,
  length: Duration,
): Promise<Samples> {
  const samples: Samples = { optedIn: [], others: [], errors: 0 };
  const count = Math.round((length / seconds(1)) * perSecond);
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const due = start + (index * seconds(1)) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await clock.sleep(wait); // oxlint-disable-line no-await-in-loop -- this is the rate
    pending.push(one(client, arm, index % 2 === 0, samples));
  }
  await Promise.all(pending);
  return samples;
}

async function one(client: KubeClient, arm: Arm, optsIn: boolean, samples: Samples): Promise<void> {
  const pod = podOf(namespaceOf(arm), optsIn);
  const began = performance.now();
  try {
    const { spec } = await client.create(pods, pod, { dryRun: true });
    (optsIn ? samples.optedIn : samples.others).push(performance.now() - began);
    const isInjected = spec?.nodeSelector !== undefined;
    if (isInjected !== (optsIn && arm === 'ours')) samples.errors += 1;
  } catch {
    samples.errors += 1;
  }
}

export interface ThroughOptions {
  readonly clock: Clock;
  /** Of one arm; at most 5 s. */
  readonly length: Duration;
  readonly wanted: number;
  /** Slices tried at most. */
  readonly tries: number;
  readonly tell: (line: string) => void;
}

export interface ThroughResult {
  /** Of all Pods. */
  readonly valid: readonly Slice[];
  /** The same slices, of the Pods that opt in. */
  readonly optedIn: readonly Slice[];
  readonly tried: number;
  readonly errors: number;
}

/** Slices of all three arms, each time in another order, until enough of them are valid. */
export async function measureThrough(
  client: KubeClient,
  options: ThroughOptions,
): Promise<ThroughResult> {
  const { clock, length, wanted, tries, tell } = options;
  const [valid, optedIn]: [Slice[], Slice[]] = [[], []];
  const counts = { tried: 0, errors: 0 };
  while (valid.length < wanted && counts.tried < tries) {
    const samples = {} as Record<Arm, Samples>;
    const turned = [...arms.slice(counts.tried % 3), ...arms.slice(0, counts.tried % 3)];
    for (const arm of turned) {
      samples[arm] = await measure(client, clock, arm, length); // oxlint-disable-line no-await-in-loop
      counts.errors += samples[arm].errors;
    }
    counts.tried += 1;
    const slice = sliceOf(samples, (one) => [...one.optedIn, ...one.others]);
    if (isValid(slice)) {
      valid.push(slice);
      optedIn.push(sliceOf(samples, (one) => one.optedIn));
    }
    tell(
      `slices: ${valid.length} of ${wanted} valid, ${counts.tried} tried, ${counts.errors} errors`,
    );
  }
  return { valid, optedIn, ...counts };
}

function sliceOf(
  { none, go, ours }: Readonly<Record<Arm, Samples>>,
  of: (samples: Samples) => readonly number[],
): Slice {
  return { none: of(none), go: of(go), ours: of(ours) };
}
