import type { Clock } from '#schemas/time/clock.ts';

import type { CloudError, Exchange, Protocol } from '../wire/service.ts';
import { CloudError as Refusal, WireService } from '../wire/service.ts';
import { type XmlTree, items, xmlDocument } from '../wire/xml.ts';
import { type Account, defaultAccount } from './account.ts';
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
import type { Ec2Timings } from './instance.ts';
import { type Hardware, Instances } from './instances.ts';
import { readLaunch, zoneOf } from './launch.ts';
import { readTags } from './lists.ts';
import { Parameters } from './parameters.ts';
import { loadRegion } from './region.ts';

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';

/**
 * EC2 on a loopback port, good enough for the real SDK: the calls that a provider of machines needs, with EC2's
 * own answers, errors, tokens, filters, pages and lags. Everything is in one region and one account.
 */
export class Ec2 extends WireService<Parameters> {
  readonly account: Account;
  readonly instances: Instances;

  constructor(options: { clock: Clock; timings: Ec2Timings; hardware: Hardware }) {
    const account = defaultAccount(loadRegion());
    const instances = new Instances(options.clock, options.timings, options.hardware);
    super(new Ec2Protocol(account, instances), options.clock);
    this.account = account;
    this.instances = instances;
  }
}

/** Sorts calls to what they do, and puts answers and refusals into EC2's XML. */
class Ec2Protocol implements Protocol<Parameters> {
  readonly #account: Account;
  readonly #instances: Instances;
  readonly #tokens = new ClientTokens();
  readonly #actions: Record<string, (parameters: Parameters) => XmlTree>;

  constructor(account: Account, instances: Instances) {
    this.#account = account;
    this.#instances = instances;
    this.#actions = {
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

  read({ body }: Exchange): { action: string; parameters: Parameters } {
    const parameters = Parameters.ofForm(body);
    const action = parameters.required('Action');
    if (Object.hasOwn(this.#actions, action)) return { action, parameters };
    throw new Refusal('InvalidAction', `The action ${action} is not valid for this web service.`);
  }

  act(action: string, parameters: Parameters, requestId: string): string {
    const tree = this.#actions[action]!(parameters);
    return xmlDocument(`${action}Response`, { requestId, ...tree }, namespace);
  }

  refuse({ code, message }: CloudError, requestId: string): string {
    const error = { Errors: { Error: { Code: code, Message: message } }, RequestID: requestId };
    return xmlDocument('Response', error, namespace);
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
