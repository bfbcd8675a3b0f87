/**
 * What Karpenter's benchmark solves, as our solver reads it: the very Pods, sizes and nodes that
 * `karpenter/priced_test.go` writes. What differs: all our Nodes have Kraftlet's taint, so Pods tolerate it; and sizes
 * are sold on demand only, where upstream sells them as spot too, at the same price.
 */
import { readFileSync } from 'node:fs';

import type { NodeInSight, Problem } from '#scheduling/solver.ts';
import { node, pool, problem, toKraftlet } from '#scheduling/testing/build.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { onDemand } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

interface Input {
  readonly Pods: readonly Pod[];
  readonly Sizes: readonly Size[];
  readonly Nodes: readonly There[];
}

interface Size {
  readonly Name: string;
  readonly Capacity: ResourceList;
  /** Capacity less what the machine keeps for itself. */
  readonly Allocatable: ResourceList;
  readonly Offerings: readonly Offered[];
}

interface Offered {
  readonly Zone: string;
  readonly CapacityType: string;
  /** USD per hour. */
  readonly Price: number;
}

interface There {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>>;
  /** Less what its Pods ask for. */
  readonly Allocatable: ResourceList;
}

/** @param file  as `karpenter/priced_test.go` writes it */
export function readProblem(file: string): Problem {
  const { Pods, Sizes, Nodes } = JSON.parse(readFileSync(file, 'utf8')) as Input;
  const limits = { cpu: '10000000', memory: '10000000Gi' };
  return problem({
    pods: Pods.map(tolerating),
    pools: [pool('mix', { sizes: Sizes.map(sizeOf), limits })],
    nodes: Nodes.map(nodeOf),
    bound: [], // rules between Pods hold, and no Pod has a place
  });
}

function tolerating({ spec, ...pod }: Pod): Pod {
  return {
    ...pod,
    spec: { ...spec, containers: spec?.containers ?? [], tolerations: [toKraftlet] },
  };
}

function nodeOf({ Name, Labels, Allocatable }: There): NodeInSight {
  return node(Name, Allocatable, { labels: Labels });
}

function sizeOf({ Name, Capacity, Allocatable, Offerings }: Size): InstanceType {
  const machine = {
    name: Name,
    family: 'fake-it',
    vcpus: Number(Quantity.parse(Capacity['cpu'] ?? '').toInteger()),
    memoryMiB: Number(Quantity.parse(Capacity['memory'] ?? '').toInteger() >> 20n),
    architecture: 'amd64',
    metal: false,
    nested: true,
  } as const;
  const sold = Offerings.filter(({ CapacityType }) => CapacityType === onDemand);
  return {
    name: Name,
    machine,
    offerings: sold.map(({ Zone, Price }) => ({
      zone: Zone,
      zoneID: Zone,
      price: Price,
      priceDerived: false,
      available: true,
    })),
    capacity: Allocatable,
    labels: labelsOf(machine),
  };
}
