/**
 * What a node class can say that its schema lets pass and that no machine could be made from. The schema's own rules
 * are not repeated here, but everything is parsed once more: a class may be older than the CRD's present rules.
 */
import { apiVersionOf } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses, type UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { violations } from '#schemas/rules/evaluate.ts';
import { describe } from '#schemas/rules/rule.ts';
import { parseDuration } from '#schemas/time/duration.ts';

const largest = Quantity.parse('1Ei');

/** @returns one sentence with its field path for each mistake */
export function mistakesOf(nodeClass: UnikraftNodeClass): string[] {
  return [
    ...nameMistakes(nodeClass.metadata?.name ?? ''),
    ...sourceMistakes(nodeClass),
    ...quantityMistakes(nodeClass),
    ...durationMistakes(nodeClass),
    ...violations(
      { apiVersion: apiVersionOf(unikraftNodeClasses), kind: 'UnikraftNodeClass', ...nodeClass },
      { operation: 'CREATE' },
    )
      .filter(({ severity }) => severity === 'deny')
      .map(describe),
  ];
}

function nameMistakes(name: string): string[] {
  if (name.length <= 63) return [];
  return [
    `metadata.name: has ${name.length} characters; Nodes carry it as a label, so use at most 63`,
  ];
}

function sourceMistakes({ spec }: UnikraftNodeClass): string[] {
  const { id, selectorTerms = [] } = spec.image;
  return [
    ...(Boolean(spec.aws) === Boolean(spec.gcp)
      ? ['spec: give either aws or gcp; a node class says which cloud its machines are in']
      : []),
    ...(Boolean(id) === selectorTerms.length > 0
      ? ['spec.image: give either id or selectorTerms']
      : []),
  ];
}

function quantityMistakes({ spec }: UnikraftNodeClass): string[] {
  const { overhead, capacity } = spec.platform ?? {};
  const quantities: [path: string, value: string | number | undefined][] = [
    ['spec.platform.overhead.memory', overhead?.memory],
    ['spec.platform.capacity.vcpus', capacity?.vcpus],
    ['spec.platform.capacity.memory', capacity?.memory],
    ['spec.platform.capacity.volumeStorage', capacity?.volumeStorage],
    ...(spec.aws?.blockDevices ?? []).map(({ volumeSize }, index): [string, string] => [
      `spec.aws.blockDevices[${index}].volumeSize`,
      volumeSize,
    ]),
    ...(spec.gcp?.disks ?? []).map(({ size }, index): [string, string] => [
      `spec.gcp.disks[${index}].size`,
      size,
    ]),
  ];
  return quantities.flatMap(([path, value]) =>
    value === undefined || isPercentage(value) ? [] : mistake(path, () => sizeOf(value)),
  );
}

function durationMistakes({ spec }: UnikraftNodeClass): string[] {
  const durations: [path: string, value: string | undefined][] = [
    ['spec.deadlines.launch', spec.deadlines?.launch],
    ['spec.deadlines.healthy', spec.deadlines?.healthy],
    ['spec.deadlines.registration', spec.deadlines?.registration],
    ['spec.certificate.api.duration', spec.certificate.api.duration],
  ];
  return durations.flatMap(([path, value]) =>
    value === undefined ? [] : mistake(path, () => timeOf(value)),
  );
}

/** @throws unless it is an amount that some machine could have */
function sizeOf(value: string | number): void {
  if (Quantity.parse(value).compareTo(largest) <= 0) return;
  throw new Error(
    `"${String(value).slice(0, 80)}" is more than any machine has (${largest.toString()})`,
  );
}

/** @throws unless it is a time in which something can happen: no machine comes within 0s, and the next follows at once */
function timeOf(value: string): void {
  if (parseDuration(value) > 0) return;
  throw new Error(`"${value.slice(0, 80)}" is no time at all; machines need minutes`);
}

function isPercentage(value: string | number): boolean {
  return /^\d{1,4}%$/.test(String(value));
}

function mistake(path: string, parse: () => unknown): string[] {
  try {
    parse();
    return [];
  } catch (error) {
    return [`${path}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
