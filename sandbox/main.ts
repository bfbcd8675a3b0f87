/**
 * `npm run sandbox`: the product's main job on one computer. It starts the world, plays the story while telling it,
 * and then stays up for `kubectl`, or ends (`--once`) with the verdict.
 */
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { inspect } from 'node:util';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { silentLogger } from '#kube/log.ts';
import type { CloudName } from '#schemas/instances/cloud.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { pods as podResource } from '#schemas/kubernetes/resource.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { readArguments, usage, type Arguments } from './arguments.ts';
import { onShutdown } from './processes/shutdown.ts';
import { PodCount } from './story/pods.ts';
import { reportOf, type Report } from './story/report.ts';
import { play, StoryFailed } from './story/scenario.ts';
import { Spans } from './story/spans.ts';
import { Teller } from './story/teller.ts';
import { Timeline } from './story/timeline.ts';
import { ScreenProgress } from './tools/progress.ts';
import { ensureTools } from './tools/tools.ts';
import { World } from './world/world.ts';

const clock = new SystemClock();

/** What the story asks for: 6, then 6 more, of web; 2 of batch. */
const wanted = 14;

async function main(args: Arguments): Promise<void> {
  // With --json standard output is for the one line at the end.
  const out = args.json ? process.stderr : process.stdout;
  const tools = await ensureTools(new ScreenProgress(out, clock));
  if (args.dist) out.write('Bundling controller and webhook as the image has them ...\n');
  out.write('Starting a control plane and a cloud ...\n');
  const world = await World.start({ tools, bundles: args.dist });
  const stopping = new AbortController();
  const ended = onShutdown(async () => {
    stopping.abort(new Error('the sandbox is ending'));
    await world.stop();
  });
  try {
    const report = await tell({ world, cloud: args.cloud }, out, stopping.signal);
    if (args.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    process.exitCode = report.ok ? 0 : 1;
    if (!args.once) await stay(world, out, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) return;
    process.exitCode = 1;
    out.write(`\n${error instanceof StoryFailed ? error.message : inspect(error)}\n`);
    out.write(`The logs of all programs are kept in ${world.run.dir}/logs\n`);
  } finally {
    if (!stopping.signal.aborted) {
      ended();
      stopping.abort(new Error('the sandbox has ended'));
      await world.stop({ keepLogs: process.exitCode === 1 });
    }
  }
}

/** How clouds are called by people. */
const called: Readonly<Record<CloudName, string>> = { aws: 'AWS', gcp: 'Google Cloud' };

async function tell(
  { world, cloud }: { world: World; cloud: CloudName },
  out: NodeJS.WriteStream,
  signal: AbortSignal,
): Promise<Report> {
  const { client } = world;
  const options = { clock, log: silentLogger };
  const claims = new SharedInformer(client, nodeClaims, options);
  const ownPods = new SharedInformer(client, podResource, { ...options, namespace: 'default' });
  const kubernetes = ((await client.raw('/version')) as { gitVersion: string }).gitVersion;
  const scene = { chapter: '' };
  const title = `sandbox · Kubernetes ${kubernetes} · ${called[cloud]} on the wire\n${availability(world)}`;
  const update = (): void => teller.update();
  const timeline = new Timeline(claims, clock, update);
  const pods = new PodCount(ownPods, update);
  const spans = new Spans(claims);
  const teller = new Teller(out, clock, () => ({
    title,
    chapter: scene.chapter,
    workloads: pods.workloads,
    claims: timeline.claims,
  }));
  const chapter = (text: string): void => {
    scene.chapter = text;
    if (out.isTTY) teller.update();
    else teller.say(text);
  };
  if (!out.isTTY) teller.say(title);
  const watching = new AbortController();
  const until = AbortSignal.any([signal, watching.signal]);
  const watches = [claims.run(until), ownPods.run(until)];
  try {
    const leaks = await play({ world, cloud, pods, clock, chapter }, signal);
    chapter('Every Pod ran, and nothing is left behind');
    teller.end();
    const [audit, secretsTold] = await Promise.all([
      world.plane.audit(),
      world.secretsTold.search(),
    ]);
    const seen = { timeline, pods, leaks, secretsTold, audit, spans: spans.all };
    return reportOf({ ...seen, wanted, kubernetes });
  } finally {
    watching.abort();
    await Promise.all(watches);
  }
}

function availability({ plane }: World): string {
  return `kubeconfig ${fromHome(plane.kubeconfig)}`;
}

/** As people write it, and shells read it. */
function fromHome(path: string): string {
  return path.replace(homedir(), '~');
}

async function stay(world: World, out: NodeJS.WriteStream, signal: AbortSignal): Promise<void> {
  const { kubeconfig } = world.plane;
  out.write(`
The story is over; the world stays up. Look around from another terminal:

  export KUBECONFIG=${fromHome(kubeconfig)}
  export PATH=${fromHome(dirname(world.tools.kubectl))}:$PATH
  kubectl scale deployment web --replicas 3
  kubectl get nodeclaims -o wide -w
  kubectl describe nodeclaim

What each program says is in ${fromHome(world.run.dir)}/logs,
since kubectl logs cannot reach it.
Ctrl-C ends it and leaves nothing behind.
`);
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}

const args = readArguments(process.argv.slice(2));
if (args instanceof Error) {
  process.stderr.write(`${args.message}\n\n${usage}`);
  process.exitCode = 2;
} else if (args.help) process.stdout.write(usage);
else await main(args);
