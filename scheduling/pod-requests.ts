/**
 * What one Pod takes of a node, as kube-scheduler counts it.
 *
 * Source: k8s.io/component-helpers v0.37, resource/helpers.go. What a resize in place has changed is not counted: such
 * a Pod is bound already, and its requests say what it will have.
 */
import type { Container, PodSpec } from '#schemas/kubernetes/core.ts';
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
  const isPlain = only && !another && !spec.initContainers && !spec.overhead && !spec.resources;
  if (isPlain) return { ...requestsOf(only), pods: '1' }; // nothing to add up
  const sum = maxResources(running(spec), ...starting(spec.initContainers ?? []));
  return addResources({ ...sum, ...podLevel(spec) }, spec.overhead ?? {}, { pods: '1' });
}

function running({ containers, initContainers = [] }: PodSpec): ResourceList {
  return addResources(...[...containers, ...initContainers.filter(isSidecar)].map(requestsOf));
}

/** What is needed while each init container runs. */
function starting(initContainers: readonly Container[]): ResourceList[] {
  let sidecars: ResourceList = {};
  return initContainers.map((container) => {
    const together = addResources(sidecars, requestsOf(container));
    if (isSidecar(container)) sidecars = together;
    return together;
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

function requestsOf({ resources }: Container): ResourceList {
  return { ...resources?.limits, ...resources?.requests };
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
