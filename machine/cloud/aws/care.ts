import {
  CreateTagsCommand,
  type InstanceStatus,
  type InstanceStatusSummary,
  paginateDescribeInstanceStatus,
} from '@aws-sdk/client-ec2';

import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { toMachineError } from '../../aws/errors.ts';
import type { Instance, MachineIdentity } from '../../machine.ts';
import { until } from '../../until.ts';
import type { InstanceCare, InstanceTrouble } from '../provider.ts';
import type { Ec2Clients } from './clients.ts';
import { instancesWith } from './instances.ts';
import { ownTags } from './own-tags.ts';

/** Values of one filter, and ids of one DescribeInstanceStatus call. Source: EC2 API reference. */
const most = { values: 200, ids: 100 };

/** Where the instances of a node class are. */
type Reach = (nodeClass: ResolvedNodeClass) => {
  readonly clients: Ec2Clients;
  readonly region: string;
};

/** What EC2 says of instances that run: status checks, scheduled events, and tags that somebody took off. */
export class Ec2Care implements InstanceCare {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async byId(
    nodeClass: ResolvedNodeClass,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const { clients, region } = this.#reach(nodeClass);
    // a filter passes over what is not there; a list of ids would be refused for one of them
    const look = inParts(ids, most.values, async (Values) =>
      instancesWith(clients.read, region, [{ Name: 'instance-id', Values }]),
    );
    return asked(look, 'Looking for instances by id', signal);
  }

  async retag(
    nodeClass: ResolvedNodeClass,
    instance: Instance,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const wanted = Object.entries(ownTags(identity));
    const lost = wanted.filter(([key, value]) => instance.tags[key] !== value);
    if (lost.length === 0) return [];
    const { clients } = this.#reach(nodeClass);
    const Tags = lost.map(([Key, Value]) => ({ Key, Value }));
    const tag = clients.write.send(new CreateTagsCommand({ Resources: [instance.id], Tags }), {
      abortSignal: signal,
    });
    await asked(tag, `Tagging instance ${instance.id} again`, signal);
    return lost.map(([key]) => key);
  }

  async troubles(
    nodeClass: ResolvedNodeClass,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly InstanceTrouble[]> {
    const { clients } = this.#reach(nodeClass);
    const look = inParts(ids, most.ids, async (InstanceIds) => {
      const found: InstanceTrouble[] = [];
      const pages = paginateDescribeInstanceStatus({ client: clients.read }, { InstanceIds });
      for await (const page of pages) {
        found.push(...(page.InstanceStatuses ?? []).flatMap((status) => troubleOf(status) ?? []));
      }
      return found;
    });
    return asked(look, 'Reading the status of instances', signal);
  }
}

/** An event comes before a check that fails: it says what will become of the instance, and when. */
function troubleOf(status: InstanceStatus): InstanceTrouble | undefined {
  const { InstanceId: instanceId = '' } = status;
  const event = eventOf(status);
  if (event !== undefined) return { instanceId, why: event };
  const checks = [
    ['instance', status.InstanceStatus],
    ['system', status.SystemStatus],
  ] as const;
  const [failed] = checks.filter(([, check]) => check?.Status === 'impaired');
  if (!failed) return undefined;
  const [name, check] = failed;
  const since = impairedSince(check);
  // without a time it has failed for a while already: EC2 leaves it out of old entries only
  return {
    instanceId,
    why: `its ${name} status check fails`,
    ...(since && { failingSince: since }),
  };
}

/**
 * What EC2 has scheduled. An event that is over or was called off stays listed for a while, and says so in its
 * description alone.
 *
 * Source: EC2 user guide, scheduled events for instances.
 */
function eventOf({ Events = [] }: InstanceStatus): string | undefined {
  const due = Events.find(({ Description = '' }) => !/^\[(Completed|Canceled)\]/.test(Description));
  if (!due) return undefined;
  const { Code = 'event', Description = '', NotBefore } = due;
  const when = NotBefore === undefined ? '' : `, not before ${NotBefore.toISOString()}`;
  return `EC2 has scheduled ${Code}${when} (${Description})`;
}

function impairedSince(check: InstanceStatusSummary | undefined): string | undefined {
  const times = (check?.Details ?? []).flatMap(({ ImpairedSince }) => ImpairedSince ?? []);
  const [first] = times.toSorted((a, b) => a.getTime() - b.getTime());
  return first?.toISOString();
}

async function inParts<T>(
  all: readonly string[],
  size: number,
  ask: (part: string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
  return (await Promise.all(parts.map(ask))).flat();
}

async function asked<T>(work: Promise<T>, doing: string, signal: AbortSignal): Promise<T> {
  try {
    return await until(work, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw toMachineError(error, doing);
  }
}
