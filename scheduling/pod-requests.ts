/**
 * What one Pod takes of a node, as kube-scheduler counts it.
 *
 * Source: k8s.io/component-helpers v0.37, resource/helpers.go.
 */
import type { Container, ContainerStatus, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { addResources, maxResources } from '#schemas/quantity/resources.ts';

/**
 * Containers run together; init containers run one after the other beside the sidecars started before them; a Pod
 * needs the larger of both. Pod-level requests replace the sum, overhead comes on top, and the Pod itself is one
 * of `pods`. Limits stand in for requests that are absent, as the API server has it for Pods (not for templates).
 *
 * @throws InvalidQuantity
 */
export function podRequests(spec: PodSpec): ResourceList {
  const [only, another] = spec.containers;
  if (only && !another && isPlain(spec)) return { ...requestsOf(only), pods: '1' }; // nothing to add up
  return withPod(spec, together(spec, requestsOf));
}

/**
 * As {@link podRequests}, for a Pod that has a node: while it is resized in place it takes the most of what its spec
 * asks for, what its node has granted and what it has; what cannot be granted is not counted.
 *
 * @throws InvalidQuantity
 */
export function boundPodRequests({ spec, status }: Pod): ResourceList {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const shown = new Map((all as readonly ResizedStatus[]).map((one) => [one.name, one]));
  const own = spec ?? { containers: [] };
  if (all.every((one) => !isResized(one))) return podRequests(own);
  const asked = isInfeasible(status) ? () => ({}) : requestsOf;
  const granted = (container: Container): ResourceList =>
    shown.get(container.name)?.allocatedResources ?? asked(container);
  const had = (container: Container): ResourceList =>
    shown.get(container.name)?.resources?.requests ?? granted(container);
  return withPod(
    own,
    maxResources(together(own, asked), together(own, granted), together(own, had)),
  );
}

/** What the status of a container says about its size, from Kubernetes 1.33 on. */
interface ResizedStatus extends ContainerStatus {
  readonly resources?: { readonly requests?: ResourceList };
  readonly allocatedResources?: ResourceList;
}

function isResized({ resources, allocatedResources }: ResizedStatus): boolean {
  return resources?.requests !== undefined || allocatedResources !== undefined;
}

function isInfeasible(status: Pod['status']): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is, reason }) =>
        type === 'PodResizePending' && is === 'True' && reason === 'Infeasible',
    ) === true
  );
}

type Requests = (container: Container) => ResourceList;

function together(spec: PodSpec, of: Requests): ResourceList {
  return maxResources(running(spec, of), ...starting(spec.initContainers ?? [], of));
}

function withPod(spec: PodSpec, sum: ResourceList): ResourceList {
  return addResources({ ...sum, ...podLevel(spec) }, spec.overhead ?? {}, { pods: '1' });
}

function running({ containers, initContainers = [] }: PodSpec, of: Requests): ResourceList {
  return addResources(...[...containers, ...initContainers.filter(isSidecar)].map(of));
}

/** What is needed while each init container runs. */
function starting(initContainers: readonly Container[], of: Requests): ResourceList[] {
  let sidecars: ResourceList = {};
  return initContainers.map((container) => {
    const all = addResources(sidecars, of(container));
    if (isSidecar(container)) sidecars = all;
    return all;
  });
}

/** Pod-level requests exist for these resources only. */
function podLevel({ resources }: PodSpec): ResourceList {
  const entries = Object.entries({ ...resources?.limits, ...resources?.requests });
  return Object.fromEntries(
    entries.filter(
      ([name]) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'),
    ),
  );
}

/** Nothing counts but its containers. */
function isPlain({ initContainers, overhead, resources }: PodSpec): boolean {
  return !initContainers?.length && !hasAny(overhead) && !hasAny(resources);
}

function hasAny(given: object | undefined): boolean {
  for (const _ in given) return true;
  return false;
}

function requestsOf({ resources }: Container): ResourceList {
  return { ...resources?.limits, ...resources?.requests };
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
