import { fileURLToPath } from 'node:url';

import type { KubeClient } from '#kube/client/client.ts';

import { applyAll } from '../manifests/apply.ts';
import { readManifests, render, type Manifest } from '../manifests/render.ts';
import type { Tools } from '../tools/tools.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const chart = fileURLToPath(new URL('../kraftlet/chart', import.meta.url));

/** The port of machines here: a person who runs the sandbox may not open 443. */
export const platformPort = 8443;

type Change = (manifest: Manifest) => Manifest;

export interface Installing {
  readonly webhookPort: number;
  /** Controller and webhook are run as their Deployments say. */
  readonly processes: boolean;
  /** The rules hold in the API server itself. Default true; without them it is seen what others make of a bad object. */
  readonly policies?: boolean;
}

/** Installs Karpenter's CRDs and `kustomize/default`, changed only where this computer is no cluster. */
export async function install(
  client: KubeClient,
  tools: Tools,
  options: Installing,
): Promise<void> {
  const manifests = await render(tools.kubectl, `${root}/kustomize/default`);
  const wanted = manifests
    .filter(({ kind }) => options.processes || kind !== 'Deployment')
    .filter(({ kind }) => options.policies !== false || !kind.includes('AdmissionPolicy'))
    .map(reachedByUrl(options.webhookPort));
  await applyAll(client, await readManifests(tools.karpenterCrds));
  await applyAll(client, wanted);
}

/** One folder of a cloud's samples, in the order that docs give: `aws/1-nodeclass`, `aws/2-nodepools`, `aws/3-workloads`. */
export async function applySample(
  client: KubeClient,
  tools: Tools,
  folder: string,
  change: Change = (manifest) => manifest,
): Promise<void> {
  await applyAll(client, (await readSample(tools, folder)).map(change));
}

/** The objects of such a folder, changed only where this computer is no cluster. */
export async function readSample(tools: Tools, folder: string): Promise<Manifest[]> {
  const manifests = await render(tools.kubectl, `${root}/kustomize/samples/${folder}`);
  return manifests.map(onThisComputer);
}

/**
 * The API server calls by URL: Endpoints cannot hold loopback addresses, so the Service has nothing behind it.
 */
function reachedByUrl(port: number): Change {
  return (manifest) => {
    if (!manifest.kind.endsWith('WebhookConfiguration')) return manifest;
    const { webhooks } = manifest as Manifest & { webhooks: Hook[] };
    return {
      ...manifest,
      webhooks: webhooks.map(({ clientConfig, ...hook }) => ({
        ...hook,
        clientConfig: { url: `https://localhost:${port}${clientConfig.service.path}` },
      })),
    } as Manifest;
  };
}

interface Hook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}

/** The real chart cannot be had: its stand-in has the same value names. */
function onThisComputer(manifest: Manifest): Manifest {
  if (manifest.kind !== 'UnikraftNodeClass') return manifest;
  const { spec } = manifest as Manifest & { spec: { kraftlet: object; platform?: object } };
  const { version: _, ...kraftlet } = spec.kraftlet as { version?: string };
  return {
    ...manifest,
    spec: {
      ...spec,
      kraftlet: { ...kraftlet, chart },
      platform: { ...spec.platform, port: platformPort },
    },
  } as Manifest;
}
