import { parse } from 'yaml';

import {
  fieldsOf,
  isObject,
  readConstraints,
  systemConstraints,
  type DefaultConstraint,
} from './constraints.ts';

/** What planning must know of how the cluster's kube-scheduler is configured. */
export interface SchedulerConfig {
  /** Spread of Pods that have none of their own; never none. */
  readonly constraints: readonly DefaultConstraint[];
  /** Whose Pods are given it; absent: everybody's, as upstream has it. */
  readonly schedulerName?: string;
}

const kubeScheduler = 'KubeSchedulerConfiguration';
const plugin = 'PodTopologySpread';
const defaultName = 'default-scheduler';

/**
 * Reads upstream Karpenter's `SCHEDULER_CONFIG`, or the very file that kube-scheduler runs by (`--config`).
 *
 * @param text  YAML or JSON: `podTopologySpread: {defaultConstraints}`, or a KubeSchedulerConfiguration, of which the
 *   profile `default-scheduler` counts
 * @returns undefined where Pods are given no spread
 * @throws Error that names each field that is wrong, and what it may be
 * Source: Karpenter v1.15, pkg/operator/options/options.go; k8s.io/kubernetes v1.37, pkg/scheduler/apis/config/v1.
 */
export function parseSchedulerConfig(text: string): SchedulerConfig | undefined {
  const document: unknown = parse(text, { prettyErrors: true });
  const problems: string[] = [];
  const config =
    isObject(document) && document['kind'] === kubeScheduler
      ? ofKubeScheduler(document, problems)
      : ofKarpenter(document, problems);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return config.constraints.length > 0 ? config : undefined;
}

/** `defaultingType` is no field of upstream's: there a list is a list, and none is none. */
function ofKarpenter(document: unknown, problems: string[]): SchedulerConfig {
  const known = ['podTopologySpread'];
  const place = `the document (if it is kube-scheduler's own, its kind must be ${kubeScheduler})`;
  const { podTopologySpread } = fieldsOf(document ?? {}, { place, known, problems });
  const path = 'podTopologySpread';
  return { constraints: ofArgs(podTopologySpread ?? {}, { path, untold: 'List', problems }) };
}

function ofKubeScheduler(document: Record<string, unknown>, problems: string[]): SchedulerConfig {
  const found = profileOf(document['profiles'], problems);
  const schedulerName = found?.name ?? defaultName;
  const configs = listOf(found?.profile['pluginConfig']);
  const index = configs.findIndex(({ name }) => name === plugin);
  if (index < 0) return { schedulerName, constraints: systemConstraints };
  const path = `${found?.path}.pluginConfig[${index}].args`;
  const given = configs[index]?.['args'] ?? {};
  return { schedulerName, constraints: ofArgs(given, { path, untold: 'System', problems }) };
}

interface Profile {
  readonly name: string;
  readonly path: string;
  readonly profile: Record<string, unknown>;
}

/** That of `default-scheduler`, or the only one; undefined where none is written, which is `default-scheduler`'s too. */
function profileOf(written: unknown, problems: string[]): Profile | undefined {
  const profiles = listOf(written).map((profile, index) => ({
    name: typeof profile['schedulerName'] === 'string' ? profile['schedulerName'] : defaultName,
    path: `profiles[${index}]`,
    profile,
  }));
  const found = profiles.find(({ name }) => name === defaultName);
  if (found || profiles.length <= 1) return found ?? profiles[0];
  const names = profiles.map(({ name }) => name).join(', ');
  problems.push(`profiles are ${names}; of several one must be ${defaultName}`);
  return undefined;
}

interface Args {
  readonly path: string;
  /** What no `defaultingType` means. */
  readonly untold: 'List' | 'System';
  readonly problems: string[];
}

/** `PodTopologySpreadArgs` */
function ofArgs(args: unknown, { path, untold, problems }: Args): readonly DefaultConstraint[] {
  const known = ['defaultConstraints', 'defaultingType', 'apiVersion', 'kind'];
  const fields = fieldsOf(args, { place: path, known, problems });
  const { defaultingType: type = untold, defaultConstraints: list } = fields;
  const constraints = readConstraints({ list, path: `${path}.defaultConstraints`, problems });
  if (type === 'List') return constraints;
  const place = `${path}.defaultingType`;
  if (type !== 'System')
    problems.push(`${place} is ${JSON.stringify(type)}; it may be List or System`);
  else if (constraints.length > 0)
    problems.push(
      `${place} is System, which has no defaultConstraints; write List, or let them go`,
    );
  return systemConstraints;
}

/** Only what is read of kube-scheduler's file is judged; it judges the rest itself. */
function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
