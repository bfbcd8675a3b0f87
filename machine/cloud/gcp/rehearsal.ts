import type { GcpSpec, ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { NodeClassError, Throttled } from '../../errors.ts';
import { faults } from '../../faults.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { IamApi } from '../../gcp/iam.ts';
import type { ComputeApi } from './api.ts';
import { computeMethods } from './methods.ts';

interface Apis {
  readonly compute: ComputeApi;
  readonly iam: IamApi;
}

/** Permissions that are needed on one thing, and the question for them. */
interface Question {
  /** `project demo-1` */
  readonly on: string;
  readonly needed: readonly string[];
  /** @returns those that are there */
  readonly ask: (needed: readonly string[]) => Promise<readonly string[]>;
}

/**
 * Asks Google which permissions the operator has on all that a launch of this class takes part in. Compute Engine has no
 * dry run; what a permission does not tell (quotas, organisation policies) is found out by the first launch.
 *
 * A question that is not answered says nothing: the API of Resource Manager or IAM may be switched off in the project. Nor
 * is an answer final: a role under a condition is judged by what the question is about, and a launch may be about another
 * (the name of the instance, the time of day), so that a no can be wrong, as a yes can.
 *
 * Source: Google Cloud's documentation of IAM Conditions, on testing permissions and resource attributes.
 *
 * @returns the permissions that seem to be missing, all at once
 * @throws NodeClassError when the service account is not there
 */
export async function rehearse(
  apis: Apis,
  nodeClass: ResolvedNodeClass,
  gcp: GcpSpec,
  signal: AbortSignal,
): Promise<NodeClassError | undefined> {
  const questions = questionsFor(apis, nodeClass, gcp, signal);
  const lacks = await Promise.all(questions.map(async (one) => lackOf(one, signal)));
  const missing = lacks.filter((lack) => lack !== undefined);
  if (missing.length === 0) return undefined;
  return new NodeClassError(
    faults.permissionsMissing,
    `By Google's word the operator lacks ${missing.join('; ')}. Give it the role of docs/tasks/gcp-role.yaml there; launches are tried all the same, since a role under a condition may hold for them`,
  );
}

function questionsFor(
  { compute, iam }: Apis,
  { spec, image, subnets }: ResolvedNodeClass,
  gcp: GcpSpec,
  signal: AbortSignal,
): Question[] {
  const { project, serviceAccount } = gcp;
  const isPublic = spec.dns.addressType === 'External';
  const network = partsOf(/^projects\/(.+)\/regions\/(.+)\/subnetworks\/(.+)$/, subnets[0]?.id);
  const picture = partsOf(/^projects\/(.+)\/global\/images\/(.+)$/, image.id);
  return [
    {
      on: `project ${project}`,
      needed: permissionsInProject(gcp),
      ask: async (needed) => iam.ofProject(project, needed, signal),
    },
    {
      on: `subnetwork ${network[2]} of project ${network[0]}`,
      needed: [
        'compute.subnetworks.use',
        ...(isPublic ? ['compute.subnetworks.useExternalIp'] : []),
      ],
      ask: async (needed) => {
        const [host = '', region = '', subnetwork = ''] = network;
        return compute.mayUseSubnetwork({ project: host, region, subnetwork }, needed, signal);
      },
    },
    {
      on: `image ${picture[1]} of project ${picture[0]}`,
      needed: ['compute.images.useReadOnly'],
      ask: async (needed) => {
        const [owner = '', name = ''] = picture;
        return compute.mayUseImage({ project: owner, image: name }, needed, signal);
      },
    },
    ...(serviceAccount === undefined
      ? []
      : [
          {
            on: `service account ${serviceAccount}`,
            needed: ['iam.serviceAccounts.actAs'],
            ask: async (needed: readonly string[]) =>
              existing(serviceAccount, iam.ofAccount(serviceAccount, needed, signal)),
          },
        ]),
  ];
}

/** Of all that the calls need, what is had in the project as a whole; the rest is asked for where it belongs. */
function permissionsInProject({ serviceAccount, networkTags = [] }: GcpSpec): string[] {
  const all = Object.values(computeMethods).flatMap(({ permissions }) => permissions);
  const unused = new Set([
    ...(serviceAccount === undefined ? ['compute.instances.setServiceAccount'] : []),
    ...(networkTags.length === 0 ? ['compute.instances.setTags'] : []),
  ]);
  const isOfProject = /^compute\.(disks|instances|machineTypes|zoneOperations|zones)\./;
  return [...new Set(all)].filter((one) => isOfProject.test(one) && !unused.has(one)).toSorted();
}

async function lackOf(
  { on, needed, ask }: Question,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const there = new Set(await ask(needed));
    const missing = needed.filter((one) => !there.has(one));
    return missing.length === 0 ? undefined : `${missing.join(', ')} on ${on}`;
  } catch (error) {
    signal.throwIfAborted();
    const saysNothing = error instanceof GoogleError || error instanceof Throttled;
    if (!saysNothing) throw error;
    return undefined;
  }
}

/** An account that is not there is no matter of permissions. */
async function existing<T>(account: string, asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    if (!(error instanceof GoogleError) || error.status !== 404) throw error;
    throw new NodeClassError(
      faults.placementRefused,
      `There is no service account ${account}; correct spec.gcp.serviceAccount, or create it.`,
      { cause: error },
    );
  });
}

function partsOf(pattern: RegExp, path = ''): readonly string[] {
  return pattern.exec(path)?.slice(1) ?? [];
}
