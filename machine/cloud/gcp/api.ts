import type { Clock } from '#schemas/time/clock.ts';

import { type ApiMethod, type CallParts, GoogleRest, type Token } from '../../gcp/rest.ts';
import { computeMethods } from './methods.ts';
import type {
  AggregatedDisks,
  AggregatedInstances,
  GceImage,
  GceInstance,
  GceMachineType,
  GceSubnetwork,
  GceZone,
  Granted,
  InstanceBody,
  Operation,
  Page,
} from './resources.ts';

/** An instance, or something under its name: where it is. */
export interface Where {
  readonly project: string;
  readonly zone: string;
  readonly instance: string;
}

/**
 * Without it a list of all zones fails as a whole as soon as one zone cannot be reached, and machines everywhere with it.
 *
 * Source: Compute Engine API reference v1, instances.aggregatedList, disks.aggregatedList.
 */
const partly = { returnPartialSuccess: 'true' };

/** The calls of Compute Engine that a provider of machines needs. All throw GoogleError. */
export class ComputeApi {
  readonly #rest: GoogleRest;

  constructor(token: Token, root: string = computeRoot(), clock?: Clock) {
    this.#rest = new GoogleRest(root, token, clock);
  }

  /** @param requestId  a repeat with the same one gives the operation of the first */
  async insert(
    { project, zone }: Omit<Where, 'instance'>,
    body: InstanceBody,
    requestId: string,
    signal: AbortSignal,
  ): Promise<Operation> {
    const parts = { path: { project, zone }, query: { requestId }, body };
    return this.#rest.call(computeMethods.insert, parts, signal);
  }

  async get(where: Where, signal: AbortSignal): Promise<GceInstance> {
    return this.#rest.call(computeMethods.get, { path: { ...where } }, signal);
  }

  async delete(where: Where, signal: AbortSignal): Promise<Operation> {
    return this.#rest.call(computeMethods.delete, { path: { ...where } }, signal);
  }

  /** All labels at once; @param fingerprint  of those that were read, so that no change in between is lost */
  async setLabels(
    where: Where,
    labels: Readonly<Record<string, string>>,
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<Operation> {
    const body = { labels, labelFingerprint: fingerprint };
    return this.#rest.call(computeMethods.setLabels, { path: { ...where }, body }, signal);
  }

  async operation(
    { project, zone }: Omit<Where, 'instance'>,
    operation: string,
    signal: AbortSignal,
  ): Promise<Operation> {
    const parts = { path: { project, zone, operation } };
    return this.#rest.call(computeMethods.operation, parts, signal);
  }

  /** All pages; a zone that could not be asked says so in its `warning`. */
  async aggregatedInstances(
    project: string,
    filter: string,
    signal: AbortSignal,
  ): Promise<AggregatedInstances[]> {
    const parts = { path: { project }, query: { filter, maxResults: '500', ...partly } };
    return this.#pages(computeMethods.aggregatedList, parts, signal);
  }

  /** All pages, with warnings as above. */
  async aggregatedDisks(
    project: string,
    filter: string,
    signal: AbortSignal,
  ): Promise<AggregatedDisks[]> {
    const parts = { path: { project }, query: { filter, maxResults: '500', ...partly } };
    return this.#pages(computeMethods.disks, parts, signal);
  }

  async deleteDisk(
    { project, zone, disk }: { project: string; zone: string; disk: string },
    signal: AbortSignal,
  ): Promise<Operation> {
    return this.#rest.call(computeMethods.deleteDisk, { path: { project, zone, disk } }, signal);
  }

  async machineTypes(
    project: string,
    zone: string,
    signal: AbortSignal,
  ): Promise<GceMachineType[]> {
    return this.#all(computeMethods.machineTypes, { path: { project, zone } }, signal);
  }

  async zones(project: string, signal: AbortSignal): Promise<GceZone[]> {
    return this.#all(computeMethods.zones, { path: { project } }, signal);
  }

  async subnetwork(
    path: { project: string; region: string; subnetwork: string },
    signal: AbortSignal,
  ): Promise<GceSubnetwork> {
    return this.#rest.call(computeMethods.subnetwork, { path }, signal);
  }

  async image(project: string, image: string, signal: AbortSignal): Promise<GceImage> {
    return this.#rest.call(computeMethods.image, { path: { project, image } }, signal);
  }

  /** The newest image of a family that is not deprecated. */
  async imageOfFamily(project: string, family: string, signal: AbortSignal): Promise<GceImage> {
    return this.#rest.call(computeMethods.imageOfFamily, { path: { project, family } }, signal);
  }

  async images(project: string, signal: AbortSignal): Promise<GceImage[]> {
    return this.#all(computeMethods.images, { path: { project } }, signal);
  }

  /** @returns those of the permissions that the caller has */
  async mayUseSubnetwork(
    path: { project: string; region: string; subnetwork: string },
    permissions: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const parts = { path, body: { permissions } };
    const answer = await this.#rest.call<Granted>(computeMethods.mayUseSubnetwork, parts, signal);
    return answer.permissions ?? [];
  }

  /** @returns those of the permissions that the caller has */
  async mayUseImage(
    path: { project: string; image: string },
    permissions: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const parts = { path, body: { permissions } };
    const answer = await this.#rest.call<Granted>(computeMethods.mayUseImage, parts, signal);
    return answer.permissions ?? [];
  }

  async #all<Item>(called: ApiMethod, parts: CallParts, signal: AbortSignal): Promise<Item[]> {
    const query = { maxResults: '500' };
    const pages = await this.#pages<Page<Item>>(called, { ...parts, query }, signal);
    return pages.flatMap(({ items = [] }) => items);
  }

  async #pages<P extends { readonly nextPageToken?: string }>(
    called: ApiMethod,
    parts: CallParts,
    signal: AbortSignal,
  ): Promise<P[]> {
    const pages: P[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const query = { ...parts.query, ...(next !== '' && { pageToken: next }) };
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
      const page: P = await this.#rest.call(called, { ...parts, query }, signal);
      pages.push(page);
      next = page.nextPageToken === '' ? undefined : page.nextPageToken;
    }
    return pages;
  }
}

/** The variable that Google's own command line reads for other endpoints. */
function computeRoot(): string {
  const given = process.env['CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE'];
  return given ?? 'https://compute.googleapis.com/compute/v1/';
}
