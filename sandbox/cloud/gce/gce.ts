import type { InstanceBody } from '#machine/cloud/gcp/resources.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { CloudError, type Exchange, type Protocol, WireService } from '../wire/service.ts';
import { Descriptions } from './descriptions.ts';
import { googleRefusal } from './google-error.ts';
import { Grants } from './grants.ts';
import type { GceTimings, Hardware, Instance, Launch } from './instance.ts';
import { Instances } from './instances.ts';
import { labelsOf, readLaunch } from './launch.ts';
import { isMetadata, tokenAnswer } from './metadata-server.ts';
import type { Operation } from './operations.ts';
import { defaultProject, type Project } from './project.ts';
import * as view from './views.ts';

/** A call as Compute Engine sees it. */
export interface GceCall {
  /** What the path names: project, zone, instance … */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * Compute Engine on a loopback port: the calls that a provider of machines needs, with its operations, refusals,
 * request ids, filters, pages and lags. Whatever its own client's descriptions do not know is refused.
 *
 * The same port is a metadata server, where programs get their tokens from.
 */
export class Gce extends WireService<GceCall> {
  readonly project: Project;
  readonly instances: Instances;
  readonly grants: Grants;

  constructor(options: { clock: Clock; timings: GceTimings; hardware: Hardware }) {
    const project = defaultProject();
    const instances = new Instances(options.clock, options.timings, options.hardware);
    const grants = new Grants();
    super(new GceProtocol(project, instances, grants), options.clock);
    this.grants = grants;
    this.project = project;
    this.instances = instances;
  }
}

class GceProtocol implements Protocol<GceCall> {
  /** The second one is of metadata servers, by which programs know them. */
  readonly headers = { 'content-type': 'application/json', 'metadata-flavor': 'Google' };
  readonly #project: Project;
  readonly #instances: Instances;
  /** Request id → what it was used for and what it began. */
  readonly #requests = new Map<string, { text: string; operation: Operation }>();
  readonly #actions: Readonly<Record<string, (call: GceCall) => Answer>>;

  constructor(project: Project, instances: Instances, grants: Grants) {
    this.#project = project;
    this.#instances = instances;
    this.#actions = {
      'instances.insert': (call) => this.#insert(call),
      'instances.get': ({ path }) => view.instanceView(project, this.#instance(path)),
      'instances.delete': ({ path }) => this.#delete(path),
      'instances.setLabels': (call) => this.#setLabels(call),
      'instances.aggregatedList': ({ query }) => this.#aggregatedList(query),
      'disks.aggregatedList': ({ query }) => this.#disks(query),
      'disks.delete': ({ path: { zone = '', disk = '' } }) =>
        this.#operationView(this.#instances.deleteDisk(zone, disk)),
      'zoneOperations.get': ({ path }) => this.#operation(path),
      'machineTypes.list': (call) => this.#machineTypes(call),
      'zones.list': ({ query }) =>
        view.pageOf(
          project.zones.map((zone) => view.zoneView(project, zone)),
          query,
        ),
      'subnetworks.get': ({ path }) => this.#subnetwork(path),
      'subnetworks.testIamPermissions': ({ body }) => grants.answer(permissionsIn(body)),
      'images.testIamPermissions': ({ body }) => grants.answer(permissionsIn(body)),
      'images.get': ({ path }) => this.#image(path, ({ name }) => name === path['image']),
      'images.getFromFamily': ({ path }) =>
        this.#image(path, ({ family }) => family === path['family']),
      'images.list': ({ path, query }) => this.#images(path, query),
      [tokenAnswer.action]: () => tokenAnswer.body,
    };
  }

  admit(authorization: string | undefined, exchange: Exchange): void {
    if (isMetadata(exchange) || authorization === `Bearer ${tokenAnswer.token}`) return;
    const message =
      'Request had invalid authentication credentials. Expected OAuth 2 access token.';
    throw new CloudError('authError', message, 401);
  }

  read(exchange: Exchange): { action: string; parameters: GceCall } {
    const { method, url, body } = exchange;
    if (isMetadata(exchange)) return { action: tokenAnswer.action, parameters: noParameters() };
    const descriptions = Descriptions.load();
    const found = descriptions.find(method, url.pathname);
    if (!found) throw new CloudError('notFound', `No such method: ${method} ${url.pathname}`, 404);
    const { route, values } = found;
    descriptions.checkQuery(route, url.searchParams);
    const parsed: unknown = body === '' ? undefined : JSON.parse(body);
    descriptions.checkBody(route, parsed);
    return {
      action: route.action,
      parameters: { path: values, query: url.searchParams, body: parsed },
    };
  }

  act(action: string, call: GceCall): string {
    const { project, zone } = call.path;
    if (zone !== undefined && this.#instances.unreachable.has(zone)) {
      throw new CloudError('backendError', `Zone ${zone} cannot be reached`, 503);
    }
    const isPublic = action.startsWith('images.') || action === tokenAnswer.action;
    if (!isPublic && project !== this.#project.id) {
      throw new CloudError('notFound', `The resource 'projects/${project}' was not found`, 404);
    }
    const act = this.#actions[action];
    if (!act) throw new CloudError('notImplemented', `${action} is not known here`, 501);
    return JSON.stringify(act(call));
  }

  refuse(error: CloudError): string {
    return googleRefusal(error);
  }

  #insert({ path, query, body }: GceCall): Answer {
    const { zone = '' } = path;
    const id = query.get('requestId');
    const text = JSON.stringify([path, body]);
    const earlier = id === null ? undefined : this.#requests.get(id);
    refuseRequestId(id);
    if (earlier && earlier.text === text) return this.#operationView(earlier.operation);
    if (earlier) {
      throw new CloudError('invalid', `requestId '${id}' was used for another request already.`);
    }
    if (!this.#project.zones.includes(zone)) {
      throw new CloudError('invalid', `Invalid value for field 'zone': '${zone}'. Unknown zone.`);
    }
    const launch = readLaunch(zone, body as InstanceBody, this.#project);
    if (this.#instances.get(zone, launch.name)) {
      const message = `The resource 'projects/${this.#project.id}/zones/${zone}/instances/${launch.name}' already exists`;
      throw new CloudError('alreadyExists', message, 409);
    }
    if (launch.subnetwork.freeAddresses < 1) return this.#withoutAddress(launch);
    const operation = this.#instances.insert(launch);
    if (id !== null) this.#requests.set(id, { text, operation });
    return this.#operationView(operation);
  }

  /** Told by the operation, as all that is found out behind the API is. */
  #withoutAddress({ name: target, zone, subnetwork }: Launch): Answer {
    const { region, name } = subnetwork;
    const message = `IP space of 'projects/${this.#project.id}/regions/${region}/subnetworks/${name}' is exhausted.`;
    const failure = { code: 'IP_SPACE_EXHAUSTED', message };
    return this.#operationView(
      this.#instances.operations.begin({ zone, type: 'insert', target }, 0, () => failure),
    );
  }

  #delete(path: GceCall['path']): Answer {
    const instance = this.#instance(path);
    if (instance.launch.protectedFromDeletion) {
      const message = `Invalid resource usage: 'Resource cannot be deleted if it's protected against deletion. Please disable deletion protection and try again.'.`;
      throw new CloudError('conditionNotMet', message, 412);
    }
    return this.#operationView(this.#instances.delete(instance));
  }

  #setLabels({ path, body }: GceCall): Answer {
    const instance = this.#instance(path);
    const { labels = {}, labelFingerprint } = body as {
      labels?: Record<string, string>;
      labelFingerprint?: string;
    };
    if (labelFingerprint !== view.fingerprintOf(instance)) {
      throw new CloudError(
        'conditionNotMet',
        'Labels fingerprint either invalid or resource labels have changed',
        412,
      );
    }
    instance.labels = { ...labelsOf(labels) };
    const { zone, name: target } = instance.launch;
    const what = { zone, type: 'setLabels', target } as const;
    return this.#operationView(this.#instances.operations.begin(what, 0, () => undefined));
  }

  #instance({ project, zone = '', instance = '' }: GceCall['path']): Instance {
    const found = this.#instances.visible.find(
      ({ launch }) => launch.zone === zone && launch.name === instance,
    );
    if (found) return found;
    const message = `The resource 'projects/${project}/zones/${zone}/instances/${instance}' was not found`;
    throw new CloudError('notFound', message, 404);
  }

  #operation({ zone = '', operation = '' }: GceCall['path']): Answer {
    const found = this.#instances.operations.get(zone, operation);
    if (found) return this.#operationView(found);
    throw new CloudError('notFound', `The resource '${operation}' was not found`, 404);
  }

  #operationView(operation: Operation): Answer {
    return view.operationView(this.#project, operation);
  }

  #aggregatedList(query: URLSearchParams): Answer {
    const { visible } = this.#instances;
    const found = view.filtered(visible, query.get('filter'), factsOfInstance);
    return this.#aggregated(found, query, (there) => ({
      instances: there.map((one) => view.instanceView(this.#project, one)),
    }));
  }

  #disks(query: URLSearchParams): Answer {
    const { disks } = this.#instances;
    const found = view.filtered(disks.all, query.get('filter'), (disk) => disk);
    return this.#aggregated(found, query, (there) => ({
      disks: there.map((one) => view.diskView(this.#project, one)),
    }));
  }

  /**
   * Every zone has its place on each page, with or without anything in it. One that cannot be reached fails the list,
   * unless whoever asks takes it without.
   */
  #aggregated<T extends { readonly zone: string } | { readonly launch: { readonly zone: string } }>(
    all: readonly T[],
    query: URLSearchParams,
    toList: (there: readonly T[]) => Answer,
  ): Answer {
    const { unreachable } = this.#instances;
    const [first] = unreachable;
    if (first !== undefined && query.get('returnPartialSuccess') !== 'true') {
      throw new CloudError('backendError', `Zone ${first} cannot be reached`, 503);
    }
    const zoneOf = (one: T): string => ('launch' in one ? one.launch.zone : one.zone);
    const found = all.filter((one) => !unreachable.has(zoneOf(one)));
    const { items: shown, nextPageToken } = view.pageOf(found, query);
    const zones = this.#project.zones.map((zone) => {
      const there = shown.filter((one) => zoneOf(one) === zone);
      const code = unreachable.has(zone) ? 'UNREACHABLE' : 'NO_RESULTS_ON_PAGE';
      const warning = { warning: { code, message: `${code} ${zone}` } };
      return [`zones/${zone}`, there.length > 0 ? toList(there) : warning] as const;
    });
    return { items: Object.fromEntries(zones), ...(nextPageToken && { nextPageToken }) };
  }

  #machineTypes({ path, query }: GceCall): Answer {
    const { notSold, sizes } = this.#project;
    const sold = sizes.filter(({ name }) => !notSold.get(path['zone'] ?? '')?.has(name));
    const { items, ...rest } = view.pageOf(sold, query);
    return { items: items.map(view.sizeView), ...rest };
  }

  #subnetwork({ region, subnetwork }: GceCall['path']): Answer {
    const { subnetworks, id } = this.#project;
    const found = subnetworks.find((one) => one.name === subnetwork && one.region === region);
    if (found) return view.subnetworkView(this.#project, found);
    const message = `The resource 'projects/${id}/regions/${region}/subnetworks/${subnetwork}' was not found`;
    throw new CloudError('notFound', message, 404);
  }

  #image(
    { project }: GceCall['path'],
    isIt: (image: Project['images'][number]) => boolean,
  ): Answer {
    const found = this.#project.images.findLast((one) => one.project === project && isIt(one));
    if (found) return view.imageView(found);
    throw new CloudError('notFound', `The resource 'projects/${project}/…' was not found`, 404);
  }

  #images({ project }: GceCall['path'], query: URLSearchParams): Answer {
    const theirs = this.#project.images.filter((one) => one.project === project);
    const { items, ...rest } = view.pageOf(theirs, query);
    return { items: items.map(view.imageView), ...rest };
  }
}

function permissionsIn(body: unknown): readonly string[] {
  return (body as { permissions?: readonly string[] }).permissions ?? [];
}

function refuseRequestId(id: string | null): void {
  const isUuid = id === null || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  if (isUuid && !/^[0-]*$/.test(id ?? '1')) return;
  throw new CloudError('invalid', `Invalid value for field 'requestId': '${id}'. Must be a UUID.`);
}

function factsOfInstance({ launch, labels }: Instance) {
  return { name: launch.name, labels };
}

function noParameters(): GceCall {
  return { path: {}, query: new URLSearchParams(), body: undefined };
}
