import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { solve } from '#scheduling/solve.ts';
import type { PodVolumes, Problem } from '#scheduling/solver.ts';
import { anyProblem } from '#scheduling/testing/arbitrary.ts';
import { daemonSet, node, pod, pool, problem } from '#scheduling/testing/build.ts';
import { mix, wishful } from '#scheduling/testing/mix.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

import { Slices } from '../slices.ts';
import type { Ask, Change, ToThread } from './messages.ts';
import { piecesOf, planOf } from './plan-text.ts';
import { Receiver } from './receiver.ts';
import { Sender } from './sender.ts';
import { sortedPlan } from './testing/sorted-plan.ts';

/** Both ends, and what went between them. */
class Wire {
  readonly changes: Change[] = [];
  readonly #receiver = new Receiver();
  readonly #sender = new Sender((message) => this.#take(structuredClone(message)));
  #ask: Ask | undefined;

  /** The problem as the thread has it. */
  async carry(given: Problem): Promise<Problem> {
    this.changes.length = 0;
    await this.#sender.send(given, 1, new Slices(), new AbortController().signal);
    return this.#receiver.problem(this.#ask!);
  }

  #take(message: ToThread): void {
    if (message.kind === 'solve') {
      this.#ask = message;
      return;
    }
    this.changes.push(message);
    this.#receiver.take(message);
  }
}

/** Every other Pod has to leave its node. */
function halved(given: Problem): Problem {
  const isLeaving = (index: number): boolean => index % 2 === 1;
  return {
    ...given,
    pods: given.pods.filter((_, index) => !isLeaving(index)),
    leaving: given.pods.filter((_, index) => isLeaving(index)),
  };
}

const anyKind = fc
  .tuple(anyProblem, fc.boolean())
  .map(([given, isHalved]) => (isHalved ? halved(given) : given));

describe('a problem in the thread', () => {
  test('has the same plan as it had before, one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyKind, { minLength: 1, maxLength: 4 }), async (problems) => {
        const wire = new Wire();
        for (const given of problems) {
          // oxlint-disable-next-line no-await-in-loop -- the second builds on the first
          const carried = await wire.carry(given);
          const plan = solve(carried);
          // oxlint-disable-next-line no-await-in-loop
          const back = await planOf([...piecesOf(plan, carried.pools)], given.pools, new Slices());
          expect(sortedPlan(back)).toEqual(sortedPlan(solve(given)));
        }
      }),
      { numRuns: 40 },
    );
  });

  test('is not told twice, and what has not changed is the very same object', async () => {
    const wire = new Wire();
    const given = { ...mix(200), daemonSets: [daemonSet({ cpu: '100m' })], nodes: [node('n', {})] };
    const before = await wire.carry(given);
    const again = await wire.carry({ ...given, pods: [...given.pods] });
    expect(wire.changes).toEqual([]);
    for (const list of ['pods', 'nodes', 'pools', 'daemonSets', 'bound'] as const)
      expect(again[list]).toBe(before[list]);
  });

  test('changes where it changed, and nowhere else', async () => {
    const wire = new Wire();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => pod(name));
    const [web, batch] = [pool('web'), pool('batch')];
    const before = await wire.carry(problem({ pods: [a!, b!], pools: [web, batch] }));
    const less = { ...web, remaining: { cpu: '1' } };
    const after = await wire.carry(problem({ pods: [b!, c!], pools: [less, batch] }));

    expect(wire.changes).toMatchObject([
      { list: 'pods', parts: [], set: [['shop/c', expect.anything()]], gone: ['shop/a'] },
      { list: 'pools', parts: [], gone: [] },
    ]);
    expect(names(after.pods)).toEqual(['b', 'c']);
    expect(after.pods[0]).toBe(before.pods[1]);
    expect(after.pools[0]).toMatchObject({ remaining: { cpu: '1' } });
    expect(after.pools[0]?.instanceTypes).toBe(before.pools[0]?.instanceTypes);
    expect(after.pools[1]).toBe(before.pools[1]);
  });

  test('has one spec for all Pods that say the same, whether or not they came as one object', async () => {
    const wire = new Wire();
    const { pods } = await wire.carry(
      problem({ pods: ['a', 'b', 'c'].map((name) => pod(name)), pools: [pool('web')] }),
    );
    expect(new Set(pods.map(({ spec }) => spec)).size).toBe(1);
    expect(new Set(pods.map(({ metadata }) => metadata?.labels)).size).toBe(1);
  });

  test('forgets parts that nothing names any more, and is told of them again when they come back', async () => {
    const wire = new Wire();
    const large = pod('large', { cpu: '7' });
    await wire.carry(problem({ pods: [pod('a'), large] }));
    await wire.carry(problem({ pods: [pod('a')] }));
    expect(wire.changes).toMatchObject([{ gone: ['shop/large'], forget: [expect.any(Number)] }]);
    const { pods } = await wire.carry(problem({ pods: [pod('a'), large] }));
    expect(pods[1]?.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '7' } });
  });

  test('knows volumes, whoever mounts them and how many, and is told of those that are alike once', async () => {
    const wire = new Wire();
    const spec = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const inZone = { key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: ['1b'] };
    const of = (name: string, attached: string[]): readonly [string, PodVolumes] => [
      `shop/${name}`,
      {
        nodes: [[inZone]],
        drivers: ['ebs'],
        attached: attached.length > 0 ? { ebs: attached } : {},
      },
    ];
    const full = { attachLimits: { ebs: 1 }, attached: { ebs: ['shop/x'] } };
    const given = problem({
      pods: ['a', 'b', 'c'].map((name) => pod(name, { cpu: '1' }, spec)),
      nodes: [node('full', { cpu: '8' }, full), node('ours', { cpu: '8' }, { drivers: [] })],
      pools: [
        { ...pool('plain', { weight: 9 }), drivers: [] },
        { ...pool('disks'), drivers: ['ebs'] },
      ],
      bound: [],
      volumes: new Map([of('a', ['shop/a']), of('b', []), of('c', [])]),
    });
    const carried = await wire.carry(given);

    expect(carried.volumes).toEqual(given.volumes);
    expect(carried.volumes?.get('shop/b')).toBe(carried.volumes?.get('shop/c'));
    const plan = solve(carried);
    expect(plan.nominations.size).toBe(0);
    expect(plan.claims.map(({ nodePool }) => nodePool)).toEqual(['disks']);
    expect(sortedPlan(plan)).toEqual(sortedPlan(solve(given)));

    await wire.carry({ ...given, volumes: new Map([of('a', ['shop/a']), of('b', [])]) });
    expect(wire.changes).toMatchObject([{ list: 'volumes', parts: [], set: [], gone: ['shop/c'] }]);
  });

  test('does not know what the sender was not told', async () => {
    const wire = new Wire();
    await wire.carry(problem({ bound: [], namespaces: new Map([['shop', { team: 'a' }]]) }));
    const after = await wire.carry(problem({}));
    expect(after.bound).toBeUndefined();
    expect(after.namespaces).toBeUndefined();
  });
});

test('all that a solver reads of a Pod travels', async () => {
  const seen = new Set<string>();
  const watched = (pods: readonly Pod[]): Pod[] => pods.map((one) => watch(one, '', seen));
  fc.assert(
    fc.property(anyProblem, (given) => {
      const bound = given.bound?.map(({ pod: own, on }) => ({ pod: watch(own, '', seen), on }));
      solve({ ...given, pods: watched(given.pods), ...(bound && { bound }) });
    }),
    { numRuns: 50 },
  );
  for (const given of [mix(50), wishful(50)]) solve({ ...given, pods: watched(given.pods) });

  const carried = [
    '.metadata.name',
    '.metadata.namespace',
    '.metadata.labels',
    '.metadata.creationTimestamp',
    '.metadata.deletionTimestamp',
    ...['name', 'ports', 'resources', 'restartPolicy'].flatMap((field) => [
      `.spec.containers.${field}`,
      `.spec.initContainers.${field}`,
    ]),
    ...['nodeSelector', 'affinity', 'tolerations', 'topologySpreadConstraints'].map(inSpec),
    ...['containers', 'initContainers', 'overhead', 'resources', 'volumes'].map(inSpec),
    ...['resourceClaims'].map(inSpec),
    '.status', // of Pods that have a place only ended ones differ, which the provisioner leaves out
    '.metadata',
    '.spec',
  ];
  expect(seen).toContain('.spec.affinity');
  expect([...seen].filter((path) => !carried.includes(path))).toEqual([]);
});

const inSpec = (field: string): string => `.spec.${field}`;

/** Notes which fields are read, down to those of containers. */
function watch<T extends object>(object: T, path: string, seen: Set<string>): T {
  return new Proxy(object, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'symbol' || Array.isArray(target)) return inner(value, path, seen);
      seen.add(`${path}.${name}`);
      return inner(value, `${path}.${name}`, seen);
    },
  });
}

const watchedInside = ['', '.metadata', '.spec', '.spec.containers', '.spec.initContainers'];

function inner(value: unknown, path: string, seen: Set<string>): unknown {
  const isWatched = typeof value === 'object' && value !== null && watchedInside.includes(path);
  return isWatched ? watch(value, path, seen) : value;
}

const names = (pods: readonly Pod[]): (string | undefined)[] =>
  pods.map(({ metadata }) => metadata?.name);
