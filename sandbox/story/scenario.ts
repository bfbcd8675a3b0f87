import type { KubeClient } from '#kube/client/client.ts';
import { getCondition, rootType } from '#kube/conditions.ts';
import type { CloudName } from '#schemas/instances/cloud.ts';
import { nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { minutes, type Clock } from '#schemas/time/clock.ts';

import { applySample } from '../world/installation.ts';
import { isClean, leaksOf, type Leaks } from '../world/leaks.ts';
import type { World } from '../world/world.ts';
import type { PodCount } from './pods.ts';

const deployments = resource<KubeObject>('apps/v1', 'Deployment', 'deployments', 'Namespaced');

/** A chapter of the story that did not come to its end; the message says which and how far it got. */
export class StoryFailed extends Error {
  override readonly name = 'StoryFailed';
}

export interface Stage {
  readonly world: World;
  /** Whose samples are applied. */
  readonly cloud: CloudName;
  readonly pods: PodCount;
  readonly clock: Clock;
  /** Tells what happens now. */
  chapter(text: string): void;
}

/** How many Pods each Deployment has, chapter by chapter. */
const chapters: readonly { readonly text: string; readonly web: number; readonly batch: number }[] =
  [
    { text: 'Six web Pods and two batch Pods have nowhere to run', web: 6, batch: 2 },
    { text: 'Twice as many web Pods', web: 12, batch: 2 },
    { text: 'Nobody is needed any more', web: 0, batch: 0 },
  ];

/**
 * The product's main job, as its users see it: samples are applied, Deployments scaled up and down, and everything
 * that was made goes away again.
 *
 * @throws StoryFailed when a chapter takes longer than it should
 * @returns what is left at the end
 */
export async function play(stage: Stage, signal: AbortSignal): Promise<Leaks> {
  const { world, pods } = stage;
  await operatorRuns(stage, signal);
  stage.chapter('The samples are applied: a node class, two NodePools, two Deployments');
  for (const folder of ['1-nodeclass', '2-nodepools', '3-workloads']) {
    // oxlint-disable-next-line no-await-in-loop -- the order that the docs give
    await applySample(world.client, world.tools, `${stage.cloud}/${folder}`);
  }
  await until(stage, 'the NodePools are ready', () => poolsReady(world.client), signal);
  for (const { text, web, batch } of chapters) {
    stage.chapter(text);
    pods.want('web', web);
    pods.want('batch', batch);
    // oxlint-disable-next-line no-await-in-loop -- one chapter after the other
    await Promise.all([scale(world.client, 'web', web), scale(world.client, 'batch', batch)]);
    // oxlint-disable-next-line no-await-in-loop -- one chapter after the other
    await until(stage, 'all Pods are as wanted', async () => pods.settled, signal);
  }
  stage.chapter('Machines that stay empty for 5 s (consolidateAfter) leave');
  await until(stage, 'every machine is gone', async () => isClean(await leaksOf(world)), signal);
  return leaksOf(world);
}

async function operatorRuns(stage: Stage, signal: AbortSignal): Promise<void> {
  stage.chapter('The controller and the webhook start');
  const ready = async (): Promise<boolean> => {
    const { items } = await stage.world.client.list(deployments, {
      namespace: 'karpenter-unikraft',
    });
    return (
      items.length === 2 &&
      items.every((one) => {
        const { status = {} } = one as { status?: { readyReplicas?: number; replicas?: number } };
        return (status.readyReplicas ?? 0) > 0 && status.readyReplicas === status.replicas;
      })
    );
  };
  await until(stage, 'controller and webhook are ready', ready, signal);
}

async function poolsReady(client: KubeClient): Promise<boolean> {
  const { items } = await client.list(nodePools);
  return items.every(({ status }) => getCondition(status?.conditions, rootType)?.status === 'True');
}

async function scale(client: KubeClient, name: string, replicas: number): Promise<void> {
  const key = { namespace: 'default', name };
  await client.patch(deployments, key, { type: 'merge', body: { spec: { replicas } } });
}

async function until(
  { clock }: Stage,
  what: string,
  isSo: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const end = clock.now() + minutes(2);
  while (clock.now() < end) {
    // oxlint-disable-next-line no-await-in-loop -- asked until it is so
    if (await isSo()) return;
    // oxlint-disable-next-line no-await-in-loop -- asked until it is so
    await clock.sleep(200, signal);
  }
  throw new StoryFailed(`after two minutes it is still not so that ${what}`);
}
