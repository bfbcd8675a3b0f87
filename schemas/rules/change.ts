/** Warnings before machines are replaced: what a person changes in a line may cost an hour of new machines. */
import { nodePools } from '../karpenter/types.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import { unikraftNodeClasses } from '../nodeclass/types.ts';
import type { Rule, Violation } from './rule.ts';
import { nodeClass, pool, poolWith, requirement, taint } from './samples.ts';
import { unchanged } from './text.ts';

const shared = {
  code: 'KPU124',
  operations: ['UPDATE'],
  severity: 'warn',
  message: 'This change replaces machines made before it, as they expire or are deleted.',
  fix: 'Delete NodeClaims to have it sooner: this release replaces none for such a change.',
} as const satisfies Partial<Rule>;

/** All that a revision is made of: behaviour (deadlines) changes without a machine. */
const ofClass = [
  'aws',
  'gcp',
  'image',
  'platform',
  'bootstrap',
  'dns',
  'certificate',
  'kraftlet',
  'tags',
];
/** What a NodePool's hash covers; requirements are compared with each machine itself. */
const ofTemplate = [
  'nodeClassRef',
  'taints',
  'startupTaints',
  'expireAfter',
  'terminationGracePeriod',
];
const ofTemplateMetadata = ['labels', 'annotations'];

export const changeRules: readonly Rule[] = [
  {
    ...shared,
    name: 'node-class-change-replaces-machines',
    target: unikraftNodeClasses,
    path: 'spec',
    cel: ofClass.map((field) => `(${unchanged(field)})`).join(' && '),
    docs: 'A machine is never reconfigured. A value that is only spelled anew (1024Mi, 1Gi) replaces nothing, though it is warned about. Where no rollout replaces them, machines of before stay until they expire or are deleted.',
    before: nodeClass(),
    accepts: [nodeClass(), nodeClass({ deadlines: { launch: '10m' } })],
    rejects: [
      nodeClass({ image: { id: 'ami-0abc' } }),
      nodeClass({ tags: { team: 'a' } }),
      nodeClass({ platform: { port: 8443 } }),
    ],
  },
  {
    ...shared,
    name: 'pool-template-change-replaces-machines',
    target: nodePools,
    path: 'spec.template.spec',
    cel: ofTemplate.map((field) => `(${unchanged(field)})`).join(' && '),
    docs: 'Requirements replace only machines that no longer meet them; disruption, limits and weight replace none.',
    before: pool([]),
    accepts: [pool([requirement('team', 'Exists')]), poolWith({ weight: 10 })],
    rejects: [
      pool([], {}, { taints: [taint('team', 'NoSchedule', 'a')] }),
      pool([], {}, { expireAfter: '48h' }),
      pool(
        [],
        {},
        { nodeClassRef: { ...pool([]).spec.template.spec.nodeClassRef, name: 'other' } },
      ),
    ],
  },
  {
    ...shared,
    name: 'pool-label-change-replaces-machines',
    target: nodePools,
    path: 'spec.template.metadata',
    cel: ofTemplateMetadata.map((field) => `(${unchanged(field)})`).join(' && '),
    docs: 'Labels and annotations of the template are on every machine.',
    before: pool([], { team: 'a' }),
    accepts: [pool([], { team: 'a' })],
    rejects: [pool([], { team: 'b' }), pool([], { team: 'a', size: 'x' }), pool([])],
  },
];

const names = new Set(changeRules.map(({ name }) => name));

/** Machines by the pool that they belong to. */
export type MachineCounts = ReadonlyMap<string, number>;

/** Machines that a change of this NodePool or node class would replace; undefined where nobody has counted. */
export type CountMachines = (changed: KubeObject) => MachineCounts | undefined;

/**
 * What is known of the cluster makes the warnings of {@link changeRules} say how much they are about.
 *
 * @param count machines that the change would replace; asked only where one is warned of
 * @returns the violations with one counted warning in place of the plain ones; none where there is nothing to replace
 */
export function withCounts(
  found: readonly Violation[],
  count: () => MachineCounts | undefined,
): readonly Violation[] {
  const [first] = found.filter(({ rule }) => names.has(rule));
  const counts = first && count();
  if (!first || !counts) return found;
  const others = found.filter(({ rule }) => !names.has(rule));
  const counted = countedChange(first, counts);
  return counted ? [...others, counted] : others;
}

/** "This change replaces 12 machines in pools a, b as they expire or are deleted." */
function countedChange(plain: Violation, counts: MachineCounts): Violation | undefined {
  const pools = [...counts]
    .filter(([, machines]) => machines > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const total = pools.reduce((sum, [, machines]) => sum + machines, 0);
  if (total === 0) return undefined;
  const shown = pools.slice(0, shownPools).map(([name]) => name);
  const more = pools.length > shown.length ? ` and ${pools.length - shown.length} more` : '';
  const machines = total === 1 ? '1 machine' : `${total} machines`;
  const where = pools.length === 1 ? 'pool' : 'pools';
  return {
    ...plain,
    message: `This change replaces ${machines} in ${where} ${shown.join(', ')}${more} as they expire or are deleted.`,
  };
}

/** A warning has room for about a line. */
const shownPools = 3;
