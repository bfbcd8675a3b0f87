import { labels } from '../../names.ts';
import { largest } from '../largest.ts';
import type { Rule } from '../rule.ts';
import { requirement } from '../samples.ts';
import { leavesOneOf, listOf, oneLine } from '../text.ts';
import { asking, forPoolsAndClaims, type SharedRule } from './both.ts';

const unmet = {
  code: 'KPU104',
  severity: 'deny',
  message: 'No Unikraft machine can meet this requirement, so nothing would ever be launched.',
} as const satisfies Partial<SharedRule>;

const oldOs = 'beta.kubernetes.io/os';
const oldArch = 'beta.kubernetes.io/arch';

/** What every machine's Node says in words of which all are known. */
const knownValues: readonly (readonly [keys: readonly string[], values: readonly string[]])[] = [
  [[labels.os, oldOs], ['linux']],
  [
    [labels.arch, oldArch],
    ['amd64', 'arm64'],
  ],
  [[labels.virtualKubelet], ['true']],
  [[labels.nestedVirtualization], ['true', 'false']],
];

const numbers = [labels.instanceVcpus, labels.instanceMemory];
const words = [labels.zone, labels.region, labels.instanceType, labels.instanceFamily];

/** Gt and its like compare numbers; of a word, or of no number, nothing is left. */
const comparisons = ['Gt', 'Lt', 'Gte', 'Lte'] as const;

const most = `(self.key == '${labels.instanceVcpus}' ? quantity('${largest.vcpus}') : quantity('${largest.memoryMiB}'))`;
const bound = 'quantity(string(self.values[0]))';

const withinReach = oneLine(`
  !(self.key in ${listOf(numbers)}) || (
    self.operator == 'In' ? has(self.values) && self.values.exists(v, v.matches('^[1-9][0-9]*$')
      && !quantity(string(v)).isGreaterThan(${most})) :
    self.operator in ${listOf(comparisons)} ? has(self.values) && size(self.values) > 0
      && self.values[0].matches('^[0-9]+$') && (
        self.operator == 'Gt' ? ${bound}.isLessThan(${most}) :
        self.operator == 'Gte' ? !${bound}.isGreaterThan(${most}) :
        self.operator == 'Lt' ? ${bound}.isGreaterThan(quantity('1')) :
        ${bound}.isGreaterThan(quantity('0'))) :
    self.operator != 'DoesNotExist')`);

/** Each is compared with each, and what a policy may cost has a limit: past this many it is left to the controller. */
const comparable = 40;

const contradiction = oneLine(`
  size(self) > ${comparable} || self.all(a, a.operator != 'In' || !has(a.values) || self.all(b, b.key != a.key || !has(b.values) || (
    b.operator == 'In' ? a.values.exists(v, v in b.values) :
    b.operator == 'NotIn' ? a.values.exists(v, !(v in b.values)) :
    true)))`);

/** What a machine has to be, and cannot. Karpenter takes such a pool for a valid one that never finds a machine. */
export const requirementRules: readonly Rule[] = [
  ...forPoolsAndClaims({
    ...unmet,
    name: 'requirement-leaves-a-known-value',
    path: 'requirements[]',
    cel: knownValues
      .map(([keys, values]) => `(!(self.key in ${listOf(keys)}) || ${leavesOneOf(values)})`)
      .join(' && '),
    fix: 'Ask for linux, amd64 or arm64, or remove the requirement.',
    docs: 'Machines run Linux on amd64 or arm64, and Kraftlet labels their Nodes unikraft.com/virtual-kubelet=true.',
    accepts: [
      ...asking(
        requirement(labels.os, 'In', 'linux', 'windows'),
        requirement(labels.os, 'NotIn', 'windows'),
        requirement(labels.arch, 'In', 'arm64'),
        requirement(oldArch, 'Exists'),
        requirement(labels.virtualKubelet, 'In', 'true'),
        requirement(labels.nestedVirtualization, 'NotIn', 'true'),
        requirement('example.com/os', 'In', 'windows'),
      ),
      { requirements: [] },
    ],
    rejects: asking(
      requirement(labels.os, 'In', 'windows'),
      requirement(oldOs, 'In', 'darwin'),
      requirement(labels.os, 'NotIn', 'linux'),
      requirement(labels.os, 'DoesNotExist'),
      requirement(labels.arch, 'In', 's390x', 'ppc64le'),
      requirement(labels.arch, 'In', 'x86_64'),
      requirement(labels.arch, 'NotIn', 'amd64', 'arm64'),
      requirement(labels.arch, 'Gt', '1'),
      requirement(labels.virtualKubelet, 'In', 'false'),
      requirement(labels.virtualKubelet, 'DoesNotExist'),
      requirement(labels.nestedVirtualization, 'In', 'yes'),
    ),
  }),
  ...forPoolsAndClaims({
    ...unmet,
    name: 'requirement-is-of-a-size-that-is-sold',
    path: 'requirements[]',
    cel: withinReach,
    fix: `Ask for whole numbers within reach: vCPUs up to ${largest.vcpus}, memory in MiB up to ${largest.memoryMiB}.`,
    docs: 'Every machine has instance-vcpus and instance-memory (in MiB), and both are numbers. The bounds are beyond what any cloud sells.',
    accepts: asking(
      requirement(labels.instanceVcpus, 'In', '8', '16'),
      requirement(labels.instanceVcpus, 'Gt', '4'),
      requirement(labels.instanceMemory, 'Lt', '65536'),
      requirement(labels.instanceMemory, 'Gte', '16384'),
      requirement(labels.instanceVcpus, 'Lte', '1'),
      requirement(labels.instanceVcpus, 'Exists'),
      requirement(labels.instanceVcpus, 'NotIn', '2'),
      requirement('example.com/size', 'Gt', '99999'),
    ),
    rejects: asking(
      requirement(labels.instanceMemory, 'In', '64Gi'),
      requirement(labels.instanceVcpus, 'In', '0'),
      requirement(labels.instanceVcpus, 'In', '9999'),
      requirement(labels.instanceVcpus, 'Gt', '4096'),
      requirement(labels.instanceMemory, 'Gte', '99999999999999999999'),
      requirement(labels.instanceVcpus, 'Lt', '1'),
      requirement(labels.instanceMemory, 'Lte', '0'),
      requirement(labels.instanceMemory, 'DoesNotExist'),
    ),
  }),
  ...forPoolsAndClaims({
    ...unmet,
    name: 'requirement-is-on-a-label-in-words',
    path: 'requirements[]',
    cel: `!(self.key in ${listOf(words)}) || !(self.operator in ${listOf([...comparisons, 'DoesNotExist'])})`,
    fix: 'Use In, NotIn or Exists on zones, regions, instance types and families.',
    docs: 'Every machine has these labels, and their values are words, which nothing is greater or less than.',
    accepts: asking(
      requirement(labels.zone, 'In', 'eu-central-1a'),
      requirement(labels.instanceType, 'NotIn', 'm8i.large'),
      requirement(labels.instanceFamily, 'Exists'),
    ),
    rejects: asking(
      requirement(labels.zone, 'DoesNotExist'),
      requirement(labels.region, 'Gt', '1'),
      requirement(labels.instanceType, 'Lte', '8'),
      requirement(labels.instanceFamily, 'Gte', '8'),
    ),
  }),
  ...forPoolsAndClaims({
    code: 'KPU105',
    severity: 'deny',
    name: 'requirements-agree',
    path: 'requirements',
    cel: contradiction,
    message: 'Two requirements on one key leave no value, so nothing would ever be launched.',
    fix: 'Write one requirement for each key, or let their values meet.',
    docs: 'All requirements have to hold.',
    accepts: [
      { requirements: [requirement('team', 'In', 'a', 'b'), requirement('team', 'In', 'b', 'c')] },
      { requirements: [requirement('team', 'In', 'a', 'b'), requirement('team', 'NotIn', 'b')] },
      { requirements: [requirement('team', 'In', 'a'), requirement('zone', 'In', 'b')] },
      { requirements: [requirement('team', 'In', 'a'), requirement('team', 'Exists')] },
    ],
    rejects: [
      { requirements: [requirement('team', 'In', 'a'), requirement('team', 'In', 'b', 'c')] },
      {
        requirements: [requirement('team', 'NotIn', 'a', 'b'), requirement('team', 'In', 'b', 'a')],
      },
      {
        requirements: [
          requirement(labels.zone, 'In', 'eu-central-1a'),
          requirement('team', 'In', 'a'),
          requirement(labels.zone, 'In', 'eu-central-1b'),
        ],
      },
    ],
  }),
  ...forPoolsAndClaims({
    code: 'KPU138',
    severity: 'warn',
    name: 'requirement-is-flexible-where-machines-are',
    path: 'requirements[]',
    cel: `!has(self.minValues) || self.minValues < 2 || !(self.key in ${listOf([labels.capacityType, labels.os, labels.arch, labels.virtualKubelet])})`,
    message:
      'Machines of one node class all have the same value here, so minValues cannot be reached.',
    fix: 'Remove minValues from this requirement, or put it on instance types or zones.',
    docs: 'Under MIN_VALUES_POLICY=Strict nothing is launched; under BestEffort minValues is given up. An image has one architecture, so a node class has one too.',
    accepts: asking(
      { ...requirement(labels.capacityType, 'In', 'on-demand'), minValues: 1 },
      { ...requirement(labels.instanceType, 'Exists'), minValues: 3 },
    ),
    rejects: asking(
      { ...requirement(labels.arch, 'In', 'amd64', 'arm64'), minValues: 2 },
      { ...requirement(labels.capacityType, 'Exists'), minValues: 2 },
    ),
  }),
];
