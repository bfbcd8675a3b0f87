import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import { addResources, fits } from '#schemas/quantity/resources.ts';

import { podRequests } from './pod-requests.ts';
import { solve } from './solve.ts';
import type { Problem } from './solver.ts';
import { daemonSet, node, pod, pool, problem, size } from './testing/build.ts';
import { apart } from './testing/rules.ts';

const anyPod = fc.record({
  cpu: fc.integer({ min: 0, max: 10_000 }),
  memory: fc.integer({ min: 0, max: 40 }),
  zone: fc.option(fc.constantFrom('1a', '1b')),
  alone: fc.boolean(),
});
const own = { app: 'alone' };
const anyProblem: fc.Arbitrary<Problem> = fc
  .record({
    pods: fc.array(anyPod, { maxLength: 30 }),
    nodes: fc.array(fc.record({ cpu: fc.nat(8), used: fc.nat(8), claim: fc.boolean() }), {
      maxLength: 4,
    }),
    limits: fc.array(fc.record({ cpu: fc.nat(40), nodes: fc.nat(6) }), {
      minLength: 1,
      maxLength: 3,
    }),
    daemon: fc.boolean(),
  })
  .map(({ pods, nodes, limits, daemon }) =>
    problem({
      pods: pods.map(({ cpu, memory, zone, alone: isAlone }, index) =>
        withLabels(
          isAlone ? own : {},
          pod(
            `p${index}`,
            { cpu: `${cpu}m`, memory: `${memory}Gi` },
            {
              ...(zone === null ? {} : { nodeSelector: { [labels.zone]: zone } }),
              ...(isAlone ? apart(labels.hostname, own) : {}),
            },
          ),
        ),
      ),
      nodes: nodes.map(({ cpu, used, claim }, index) =>
        node(
          `n${index}`,
          { cpu: `${cpu}`, memory: '16Gi' },
          {
            kind: claim ? 'claim' : 'node',
            requested: { cpu: `${Math.min(used, cpu)}` },
            labels: { [labels.zone]: '1a' },
            empty: used === 0,
          },
        ),
      ),
      pools: limits.map(({ cpu, nodes: count }, index) =>
        pool(`pool-${index}`, {
          limits: { cpu: `${cpu}`, nodes: `${count}` },
          sizes: [size(2), size(4), size(8, { zones: ['1b'] })],
        }),
      ),
      daemonSets: daemon ? [daemonSet({ cpu: '500m' })] : [],
    }),
  );

const withLabels = (given: Record<string, string>, one: Pod): Pod => ({
  ...one,
  metadata: { ...one.metadata, labels: given },
});

const requestsIn = ({ pods }: Problem): Map<string, Record<string, string>> =>
  new Map(pods.map(({ metadata, spec }) => [`shop/${metadata?.name}`, podRequests(spec!)]));

test('every Pod is in exactly one place', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const { claims, nominations, unschedulable } = solve(given);
      const placed = [
        ...claims.flatMap(({ pods }) => pods),
        ...nominations.keys(),
        ...unschedulable.keys(),
      ];
      expect(placed.toSorted()).toEqual([...requestsIn(given).keys()].toSorted());
    }),
  );
});

test('no node and no planned machine is ever overfilled', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const requests = requestsIn(given);
      const { claims, nominations } = solve(given);
      for (const { allocatable, requested, name } of given.nodes) {
        const added = [...nominations]
          .filter(([, node]) => node === name)
          .map(([key]) => requests.get(key));
        expect(added.length === 0 || fits(addResources(requested, ...added), allocatable)).toBe(
          true,
        );
      }
      for (const { pods, instanceTypes, requests: claimed } of claims) {
        const sum = addResources(...pods.map((key) => requests.get(key)));
        expect(fits(sum, claimed)).toBe(true);
        expect(instanceTypes.every(({ capacity }) => fits(claimed, capacity))).toBe(true);
      }
    }),
  );
});

test('Pods that must be apart by host never share one', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const { claims, nominations } = solve(given);
      const lonely = new Set(
        given.pods.flatMap(({ metadata }) =>
          metadata?.labels?.['app'] === 'alone' ? [`shop/${metadata.name}`] : [],
        ),
      );
      const places = [
        ...claims.map(({ pods }) => pods),
        ...given.nodes.map(({ name }) =>
          [...nominations].flatMap(([key, at]) => (at === name ? [key] : [])),
        ),
      ];
      for (const pods of places) {
        expect(pods.filter((key) => lonely.has(key)).length).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('limits are never exceeded by the machines that are planned', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const { claims } = solve(given);
      for (const { pool: nodePool, remaining } of given.pools) {
        const own = claims.filter((claim) => claim.nodePool === nodePool.metadata?.name);
        const taken = addResources(
          ...own.map(({ instanceTypes }) => ({ ...instanceTypes[0]?.capacity, nodes: '1' })),
        );
        expect(fits({ cpu: taken['cpu'] ?? '0', nodes: taken['nodes'] ?? '0' }, remaining)).toBe(
          true,
        );
      }
    }),
  );
});

test('every claim can be had in the zone its Pods ask for', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const zoneOf = new Map(
        given.pods.map((each) => [
          `shop/${each.metadata?.name}`,
          each.spec?.nodeSelector?.[labels.zone],
        ]),
      );
      for (const { pods, instanceTypes } of solve(given).claims) {
        const zones = new Set(
          pods.map((key) => zoneOf.get(key)).filter((zone) => zone !== undefined),
        );
        expect(zones.size).toBeLessThanOrEqual(1);
        const isSold = instanceTypes.every(({ offerings }) =>
          offerings.some(({ zone }) => zones.size === 0 || zones.has(zone)),
        );
        expect(isSold).toBe(true);
      }
    }),
  );
});

test('the order in which Pods, nodes and pools are given does not matter', () => {
  fc.assert(
    fc.property(anyProblem, (given) => {
      const turned = {
        ...given,
        pods: given.pods.toReversed(),
        nodes: given.nodes.toReversed(),
        pools: given.pools.toReversed(),
      };
      expect(solve(turned)).toEqual(solve(given));
    }),
  );
});
