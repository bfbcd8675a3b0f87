import type { ImageSelectorTerm, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { ResolvedPlacement } from '../provider.ts';
import type { ComputeApi } from './api.ts';
import { failed } from './errors.ts';
import { architectureOf } from './machine-types.ts';
import { type GceImage, lastOf } from './resources.ts';

/**
 * What a node class selects in its project, as Compute Engine shows it now: the subnetwork, once for each zone, and
 * the image by its full path.
 *
 * @throws NodeClassError naming the condition and what cannot be found or used
 * @throws MachineError for failures that say nothing about the node class
 */
export async function resolvePlacement(
  api: ComputeApi,
  spec: UnikraftNodeClassSpec,
  gcp: GcpSpec,
  signal: AbortSignal,
): Promise<ResolvedPlacement> {
  try {
    const [image, zones, subnetwork] = await Promise.all([
      resolveImage(api, spec.image, gcp.project, signal),
      resolveZones(api, gcp, signal),
      resolveSubnetwork(api, gcp, signal),
    ]);
    return {
      image,
      subnets: zones.map((zone) => ({ id: subnetwork, zone, zoneID: zone })),
      securityGroups: [], // firewall rules find machines by their network tags
    };
  } catch (error) {
    const known = failed(error, `Looking the node class up in project ${gcp.project}`);
    if (!(known instanceof Unauthorized)) throw known;
    throw new NodeClassError(faults.credentials, known.message, { cause: error });
  }
}

async function resolveZones(
  api: ComputeApi,
  { project, region, zones: wanted }: GcpSpec,
  signal: AbortSignal,
): Promise<string[]> {
  const all = await api.zones(project, signal);
  const there = all.filter((zone) => lastOf(zone.region) === region).map(({ name = '' }) => name);
  const absent = (wanted ?? []).filter((zone) => !there.includes(zone));
  if (there.length > 0 && absent.length === 0) return (wanted ?? there).toSorted();
  const what = absent.length > 0 ? `zone ${absent.join(', ')}` : 'zone at all';
  throw new NodeClassError(
    faults.placementRefused,
    `Region ${region} has no ${what} for project ${project} (it has ${there.join(', ') || 'none'}); correct spec.gcp.region or spec.gcp.zones.`,
  );
}

async function resolveSubnetwork(
  api: ComputeApi,
  gcp: GcpSpec,
  signal: AbortSignal,
): Promise<string> {
  const { project, region, network } = gcp;
  const shared = /^projects\/([^/]+)\/regions\/([^/]+)\/subnetworks\/([^/]+)$/.exec(gcp.subnetwork);
  const [, host = project, place = region, subnetwork = gcp.subnetwork] = shared ?? [];
  const path = `projects/${host}/regions/${place}/subnetworks/${subnetwork}`;
  if (place !== region) {
    const apart = `Subnetwork ${path} is not in ${region}; correct spec.gcp.subnetwork or spec.gcp.region.`;
    throw new NodeClassError(faults.placementRefused, apart);
  }
  const found = await api
    .subnetwork({ project: host, region, subnetwork }, signal)
    .catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
      const absent = `There is no ${path}; correct spec.gcp.subnetwork, or create it.`;
      throw new NodeClassError(faults.subnetsNotFound, absent, { cause: error });
    });
  if (network === undefined || lastOf(found.network) === network) return path;
  throw new NodeClassError(
    faults.severalNetworks,
    `Subnetwork ${path} is of network ${lastOf(found.network)}, not ${network}; correct spec.gcp.network or spec.gcp.subnetwork.`,
  );
}

async function resolveImage(
  api: ComputeApi,
  { id, selectorTerms = [] }: UnikraftNodeClassSpec['image'],
  project: string,
  signal: AbortSignal,
): Promise<ResolvedPlacement['image']> {
  const terms: readonly ImageSelectorTerm[] = id === undefined ? selectorTerms : [{ id }];
  const lists = terms.map(async (term) => imagesOf(api, term, project, signal));
  const found = (await Promise.all(lists)).flat().filter(isUsable);
  const newest = found.toSorted(newestFirst)[0];
  if (!newest) {
    throw new NodeClassError(
      faults.imageNotFound,
      `No image that is ready and not deprecated matches ${describe(terms)}; check project (owner), family and name, and that it is shared with project ${project}`,
    );
  }
  const architectures = new Set(found.map(({ architecture }) => architectureOf(architecture)));
  if (architectures.size > 1) {
    throw new NodeClassError(
      faults.imageAmbiguous,
      `${describe(terms)} matches images of several architectures, so the next one to appear could change the machines' kind; narrow the terms to one`,
    );
  }
  const [architecture] = architectures;
  if (architecture === undefined) {
    throw new NodeClassError(
      faults.imageUnusable,
      `Image ${pathOf(newest)} does not say that it is for X86_64 or ARM64; set its architecture`,
    );
  }
  return { id: pathOf(newest), name: newest.name ?? '', architecture, rootDeviceName: 'boot' };
}

/** By path, by the family's newest, or by a name with `*`; labels hold in any case. */
async function imagesOf(
  api: ComputeApi,
  term: ImageSelectorTerm,
  own: string,
  signal: AbortSignal,
): Promise<GceImage[]> {
  const found = await candidatesOf(api, term, own, signal).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  return found.filter((image) => isNamed(image, term) && isLabelled(image, term));
}

async function candidatesOf(
  api: ComputeApi,
  { id, family, owner }: ImageSelectorTerm,
  own: string,
  signal: AbortSignal,
): Promise<GceImage[]> {
  const project = owner === undefined || owner === 'self' ? own : owner;
  if (id !== undefined) {
    const [, host = project, image = id] =
      /^projects\/([^/]+)\/global\/images\/(.+)$/.exec(id) ?? [];
    const ofFamily = /^family\/(.+)$/.exec(image)?.[1];
    return [
      ofFamily === undefined
        ? await api.image(host, image, signal)
        : await api.imageOfFamily(host, ofFamily, signal),
    ];
  }
  return family === undefined
    ? api.images(project, signal)
    : [await api.imageOfFamily(project, family, signal)];
}

function isNamed({ name = '' }: GceImage, { name: pattern }: ImageSelectorTerm): boolean {
  if (pattern === undefined) return true;
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}

/** A value `*` asks only that the label is there. */
function isLabelled({ labels = {} }: GceImage, { tags = {} }: ImageSelectorTerm): boolean {
  return Object.entries(tags).every(([key, value]) =>
    value === '*' ? Object.hasOwn(labels, key) : labels[key] === value,
  );
}

function isUsable({ status, deprecated }: GceImage): boolean {
  const isCurrent = deprecated?.state === undefined || deprecated.state === 'ACTIVE';
  return status === 'READY' && isCurrent;
}

/** Newest first; images of one second in the order of their names, so that every process picks the same. */
function newestFirst(a: GceImage, b: GceImage): number {
  const [left = '', right = ''] = [a, b].map(
    ({ creationTimestamp = '', name = '' }) => `${new Date(creationTimestamp).valueOf()} ${name}`,
  );
  return left < right ? 1 : -1;
}

/** `projects/<project>/global/images/<name>` of an image's URL. */
function pathOf({ selfLink = '' }: GceImage): string {
  return /projects\/.*$/.exec(selfLink)?.[0] ?? selfLink;
}

function isAbsent(error: unknown): boolean {
  return error instanceof GoogleError && error.status === 404;
}

function describe(terms: readonly ImageSelectorTerm[]): string {
  return terms.map(describeTerm).join(', or ') || 'no terms at all';
}

function describeTerm({ tags = {}, ...fields }: ImageSelectorTerm): string {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  const others = Object.entries(fields).map(([field, value]) => `${field} ${value}`);
  return [...others, ...(pairs.length > 0 ? [`labels ${pairs.join(' and ')}`] : [])].join(', ');
}
