import { CloudError as Refusal } from '../wire/service.ts';
import { items, type XmlTree } from '../wire/xml.ts';
import type { Account } from './account.ts';
import { ClientTokens } from './client-tokens.ts';
import * as describe from './describe-account.ts';
import {
  byId,
  describeInstanceStatus,
  describeInstances,
  reservationTree,
  stateTree,
} from './describe-instances.ts';
import { describeInterfaces } from './describe-interfaces.ts';
import { describeVolumes } from './describe-volumes.ts';
import type { Instances } from './instances.ts';
import { readLaunch, zoneOf } from './launch.ts';
import { readTags } from './lists.ts';
import type { Parameters } from './parameters.ts';

/** What each call does in one region. */
export class RegionalCalls {
  readonly #account: Account;
  readonly #instances: Instances;
  readonly #tokens = new ClientTokens();
  readonly actions: Readonly<Record<string, (parameters: Parameters) => XmlTree>>;

  constructor(account: Account, instances: Instances) {
    this.#account = account;
    this.#instances = instances;
    this.actions = {
      RunInstances: (call) => this.#runInstances(call),
      TerminateInstances: (call) => this.#terminateInstances(call),
      CreateTags: (call) => this.#createTags(call),
      DescribeInstances: (call) => describeInstances(call, account, instances.visible),
      DescribeInstanceStatus: (call) => describeInstanceStatus(call, instances.visible),
      DescribeVolumes: (call) => describeVolumes(call, instances.volumes.all),
      DeleteVolume: (call) => this.#deleteVolume(call),
      DescribeNetworkInterfaces: (call) => describeInterfaces(call, instances.interfaces.all),
      DeleteNetworkInterface: (call) => this.#deleteInterface(call),
      DescribeSubnets: (call) => describe.describeSubnets(call, account),
      DescribeSecurityGroups: (call) => describe.describeSecurityGroups(call, account),
      DescribeImages: (call) => describe.describeImages(call, account),
      DescribeInstanceTypes: (call) => describe.describeInstanceTypes(call, account),
      DescribeInstanceTypeOfferings: (call) =>
        describe.describeInstanceTypeOfferings(call, account),
      DescribeAvailabilityZones: (call) => describe.describeAvailabilityZones(call, account),
    };
  }

  get region(): string {
    return this.#account.region.name;
  }

  #runInstances(parameters: Parameters): XmlTree {
    const least = parameters.count('MinCount', 1, 1000) ?? Number(parameters.required('MinCount'));
    const most =
      parameters.count('MaxCount', least, 1000) ?? Number(parameters.required('MaxCount'));
    // the token comes first: a repeat must find its instance even where a new one would be refused
    const token = parameters.text('ClientToken');
    const zone = zoneOf(parameters, this.#account) ?? this.#account.region.name;
    const fingerprint = parameters.fingerprint(['ClientToken']);
    const earlier =
      token === undefined ? undefined : this.#tokens.earlier(token, zone, fingerprint);
    if (earlier) return reservationTree(earlier[0]!.reservation, earlier, this.#account);

    const launch = readLaunch(parameters, this.#account);
    refuseDryRun(parameters);
    const started = this.#instances.run(launch, Math.min(most, launch.subnet.freeAddresses));
    if (token !== undefined) this.#tokens.keep(token, zone, fingerprint, started);
    return reservationTree(started[0]!.reservation, started, this.#account);
  }

  #terminateInstances(parameters: Parameters): XmlTree {
    const named = byId(parameters.list('InstanceId'), this.#instances.all);
    refuseDryRun(parameters);
    const held = named.find(({ isProtected }) => isProtected);
    if (held) {
      const message = `The instance '${held.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`;
      throw new Refusal('OperationNotPermitted', message);
    }
    const changes = named.map((instance) => {
      const previousState = stateTree(this.#instances.terminate(instance.id));
      return { instanceId: instance.id, currentState: stateTree(instance.state), previousState };
    });
    return { instancesSet: items(changes) };
  }

  #deleteVolume(parameters: Parameters): XmlTree {
    const id = parameters.required('VolumeId');
    refuseDryRun(parameters);
    this.#instances.volumes.delete(id);
    return { return: true };
  }

  #deleteInterface(parameters: Parameters): XmlTree {
    const id = parameters.required('NetworkInterfaceId');
    refuseDryRun(parameters);
    this.#instances.interfaces.delete(id);
    return { return: true };
  }

  #createTags(parameters: Parameters): XmlTree {
    const named = byId(parameters.list('ResourceId'), this.#instances.visible);
    const tags = readTags(parameters.structures('Tag'));
    refuseDryRun(parameters);
    for (const instance of named) Object.assign(instance.tags, tags);
    return { return: true };
  }
}

/** A dry run gets this refusal where the call would have passed. */
function refuseDryRun(parameters: Parameters): void {
  if (parameters.flag('DryRun') !== true) return;
  const passes = 'Request would have succeeded, but DryRun flag is set.';
  throw new Refusal('DryRunOperation', passes, 412);
}
