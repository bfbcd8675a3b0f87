import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { minutes, seconds, type Duration } from '#schemas/time/clock.ts';

/** The programs by the names that {@link Tools} gives them. */
export type ProgramKey =
  | 'etcd'
  | 'kubeApiserver'
  | 'kubeControllerManager'
  | 'kubeScheduler'
  | 'kubectl'
  | 'helm';

/** Programs that only tests need; the sandbox does without. */
export type TestProgramKey = 'celJudge';

export interface Program {
  readonly key: ProgramKey | TestProgramKey;
  /** File name, also in KUBEBUILDER_ASSETS. */
  readonly binary: string;
  /** Go's import path of its main package. */
  readonly package: string;
  /** A cold build on two cores. */
  readonly usual: Duration;
}

/** Programs whose dependencies agree, so that one go.mod can pin them. */
export interface ToolSet {
  readonly name: 'controlplane' | 'helm' | 'celjudge';
  /** What the programs are for, for whoever waits. */
  readonly why: string;
  /** The module whose version the programs report as theirs. */
  readonly versionOf: string;
  /** Files of ours beside its go.mod that are compiled in. */
  readonly sources?: readonly string[];
  readonly programs: readonly Program[];
}

/** In the order in which they share most of what they compile. */
export const toolSets: readonly ToolSet[] = [
  {
    name: 'controlplane',
    why: 'a real Kubernetes control plane',
    versionOf: 'k8s.io/kubernetes',
    programs: [
      kubernetes('kubeApiserver', 'kube-apiserver', seconds(450)),
      kubernetes('kubeControllerManager', 'kube-controller-manager', seconds(150)),
      kubernetes('kubeScheduler', 'kube-scheduler', seconds(20)),
      kubernetes('kubectl', 'kubectl', seconds(35)),
      {
        key: 'etcd',
        binary: 'etcd',
        package: 'go.etcd.io/etcd/server/v3',
        usual: seconds(15),
      },
    ],
  },
  {
    name: 'helm',
    why: 'the real Helm, which renders the Kraftlet chart',
    versionOf: 'helm.sh/helm/v4',
    programs: [
      {
        key: 'helm',
        binary: 'helm',
        package: 'helm.sh/helm/v4/cmd/helm',
        usual: minutes(3.5),
      },
    ],
  },
];

export const testSets: readonly ToolSet[] = [
  {
    name: 'celjudge',
    why: "Kubernetes' own CEL, the second judge of the rules",
    versionOf: 'k8s.io/apiserver',
    sources: ['main.go'],
    programs: [{ key: 'celJudge', binary: 'celjudge', package: '.', usual: seconds(120) }],
  },
];

function kubernetes(key: ProgramKey, binary: string, usual: Duration): Program {
  return { key, binary, package: `k8s.io/kubernetes/cmd/${binary}`, usual };
}

/** The folder of a set's go.mod and go.sum in the tree. */
export function moduleFolder(set: string): string {
  return fileURLToPath(new URL(`../${set}/`, import.meta.url));
}

/** `v1.37.2`: the version that the go.mod in `folder` asks for; throws when it does not name the module. */
export async function pinnedVersion(folder: string, module: string): Promise<string> {
  const text = await readFile(join(folder, 'go.mod'), 'utf8');
  const words = text.split('\n').map((line) =>
    line
      .trim()
      .replace(/^require /, '')
      .split(' '),
  );
  const version = words.find(([name]) => name === module)?.[1];
  if (!version) throw new Error(`${folder}go.mod does not require ${module}`);
  return version;
}

/**
 * What `go build` is given. Without the version kubectl cannot read the server's: it is set for all, since a
 * variable that a program does not have is no error to the linker.
 */
export function buildFlags(version: string): string[] {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const assignments = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return [
    '-mod=readonly',
    '-buildvcs=false',
    '-trimpath',
    `-ldflags=${['-s', '-w', ...assignments].join(' ')}`,
  ];
}
