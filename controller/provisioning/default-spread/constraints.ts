import type { DefaultSpread } from '#scheduling/solver.ts';

export type DefaultConstraint = DefaultSpread['constraints'][number];

/** A list of them as somebody wrote it, where it stands, and what is found wrong with it. */
export interface Written {
  readonly list: unknown;
  readonly path: string;
  readonly problems: string[];
}

/** What kube-scheduler spreads by where nobody tells it otherwise: wishes both. */
export const systemConstraints: readonly DefaultConstraint[] = [
  { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];

/**
 * Default constraints by kube-scheduler's rules, so that what it takes is taken here too. `matchLabelKeys` say nothing:
 * kube-scheduler puts the selector of each Pod in their place.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/apis/config/validation/validation_pluginargs.go.
 */
export function readConstraints({ list, path, problems }: Written): readonly DefaultConstraint[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) {
    problems.push(`${path} must be a list`);
    return [];
  }
  const seen = new Map<string, number>();
  return list.map((entry: unknown, index) => {
    const place = `${path}[${index}]`;
    const fields = fieldsOf(entry, { place, known: Object.keys(checks), problems });
    for (const [name, check] of Object.entries(checks)) {
      const complaint = check(fields[name]);
      if (complaint !== undefined) problems.push(`${place}.${name} ${complaint}`);
    }
    const { labelSelector: _, matchLabelKeys: __, ...constraint } = fields;
    const same = JSON.stringify([constraint['topologyKey'], constraint['whenUnsatisfiable']]);
    const other = seen.get(same);
    if (other !== undefined)
      problems.push(`${place} has topologyKey and whenUnsatisfiable of [${other}]; keep one`);
    else seen.set(same, index);
    return constraint as unknown as DefaultConstraint;
  });
}

/** The fields of what should be an object; those that are not known are told. */
export function fieldsOf(
  value: unknown,
  parts: { place: string; known: readonly string[]; problems: string[] },
): Record<string, unknown> {
  const { place, known, problems } = parts;
  if (!isObject(value)) {
    problems.push(`${place} must be an object with ${known.join(', ')}`);
    return {};
  }
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  problems.push(
    ...unknown.map((name) => `${place} has a field ${name}; it may have ${known.join(', ')}`),
  );
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A label's key: a name, with a DNS name before it or not. */
const labelKey =
  /^(?=.{1,253}(\/|$))([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1;
const isPolicy = (value: unknown): boolean => value === 'Honor' || value === 'Ignore';

/** What is wrong with the value of a field. */
const checks: Record<
  keyof DefaultConstraint | 'labelSelector',
  (value: unknown) => string | undefined
> = {
  maxSkew: must(isCount, 'must be a whole number from 1'),
  topologyKey: must(
    (value) => typeof value === 'string' && labelKey.test(value),
    'must be the key of a label, such as topology.kubernetes.io/zone',
  ),
  whenUnsatisfiable: must(
    (value) => value === 'DoNotSchedule' || value === 'ScheduleAnyway',
    'may be DoNotSchedule or ScheduleAnyway',
  ),
  minDomains: may(isCount, 'must be a whole number from 1'),
  nodeAffinityPolicy: may(isPolicy, 'may be Honor or Ignore'),
  nodeTaintsPolicy: may(isPolicy, 'may be Honor or Ignore'),
  matchLabelKeys: may(Array.isArray, 'must be a list'),
  labelSelector: may(() => false, 'must go: each Pod is given that of its Services and controller'),
};

function must(isRight: (value: unknown) => boolean, rule: string) {
  return (value: unknown): string | undefined =>
    isRight(value)
      ? undefined
      : `${value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`}; it ${rule}`;
}

function may(isRight: (value: unknown) => boolean, rule: string) {
  const check = must(isRight, rule);
  return (value: unknown): string | undefined =>
    value === undefined || value === null ? undefined : check(value);
}
