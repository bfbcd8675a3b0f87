/**
 * Ports of the node that Pods take for themselves.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework/types.go (HostPortInfo); init containers that end are not
 * counted there, sidecars are.
 */
import type { Container, PodSpec } from '#schemas/kubernetes/core.ts';

export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  /** `0.0.0.0`: every address of the node. */
  readonly ip: string;
}

const anywhere = '0.0.0.0';

export function hostPortsOf({ containers, initContainers = [] }: PodSpec): readonly HostPort[] {
  return [
    ...containers,
    ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ]
    .flatMap(({ ports = [] }: Container) => ports)
    .flatMap(({ hostPort, protocol = 'TCP', hostIP }) =>
      hostPort ? [{ port: hostPort, protocol, ip: hostIP || anywhere }] : [],
    );
}

/** The first of these ports that is taken already. */
export function takenPort(
  wanted: readonly HostPort[],
  taken: readonly HostPort[],
): HostPort | undefined {
  return wanted.find((port) => taken.some((other) => clash(port, other)));
}

function clash(a: HostPort, b: HostPort): boolean {
  const isSameAddress = a.ip === b.ip || a.ip === anywhere || b.ip === anywhere;
  return a.port === b.port && a.protocol === b.protocol && isSameAddress;
}
