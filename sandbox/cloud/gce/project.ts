import { readFileSync } from 'node:fs';

import { FactFile } from '#schemas/instances/data/fact-file.ts';

export interface Subnetwork {
  readonly name: string;
  readonly region: string;
  readonly network: string;
  /** Addresses that no instance has; a test may set it to 0. */
  freeAddresses: number;
}

export interface Image {
  readonly project: string;
  readonly name: string;
  readonly family: string;
  readonly architecture: 'X86_64' | 'ARM64';
  readonly created: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface MachineSize {
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly architecture: 'X86_64' | 'ARM64';
  /** Takes the flag for nested virtualisation. */
  readonly nested?: boolean;
  readonly sharedCpu?: true;
}

/** What exists in a project before any machine: a test adds to these lists or takes away. */
export interface Project {
  readonly id: string;
  /** Of all regions; a zone is named after its region. */
  readonly zones: readonly string[];
  readonly sizes: MachineSize[];
  /** Zone → sizes that it does not sell. */
  readonly notSold: Map<string, Set<string>>;
  readonly subnetworks: Subnetwork[];
  readonly images: Image[];
}

/** Whose images are the platform's. */
export const imageProject = 'unikraft-images';

/** Sizes that can run no guests, there to be left out. */
const unfit: readonly MachineSize[] = [
  { name: 'e2-standard-4', vcpus: 4, memoryMiB: 16_384, architecture: 'X86_64' },
  { name: 'n2d-standard-8', vcpus: 8, memoryMiB: 32_768, architecture: 'X86_64' },
  { name: 't2a-standard-4', vcpus: 4, memoryMiB: 16_384, architecture: 'ARM64' },
  { name: 'f1-micro', vcpus: 1, memoryMiB: 614, architecture: 'X86_64', sharedCpu: true },
];

/** `europe-west1-b` is in `europe-west1`. */
export function regionOf(zone: string): string {
  return zone.replace(/-[a-z]$/, '');
}

/**
 * A project with the recorded sizes and, in Belgium and in the Netherlands, zones and a subnetwork of its default
 * network, and an image for each architecture.
 */
export function defaultProject(): Project {
  return {
    id: 'sandbox-project',
    zones: [
      ...['b', 'c', 'd'].map((letter) => `europe-west1-${letter}`),
      ...['a', 'b', 'c'].map((letter) => `europe-west4-${letter}`),
    ],
    sizes: [...recordedSizes(), ...unfit],
    notSold: new Map(),
    subnetworks: ['europe-west1', 'europe-west4'].map((region) => ({
      name: 'machines',
      region,
      network: 'default',
      freeAddresses: 4092,
    })),
    images: [
      image('unikraft-platform-1', 'unikraft-platform', 'X86_64'),
      image('unikraft-arm64-platform-1', 'unikraft-arm64-platform', 'ARM64'),
    ],
  };
}

function recordedSizes(): MachineSize[] {
  const file = import.meta.resolve('#schemas/instances/data/gcp.jsonl');
  const { types } = new FactFile(readFileSync(new URL(file), 'utf8'));
  return types.map(({ name, vcpus, memoryMiB, nested, architecture }) => ({
    name,
    vcpus,
    memoryMiB,
    nested,
    architecture: architecture === 'amd64' ? 'X86_64' : 'ARM64',
  }));
}

function image(name: string, family: string, architecture: Image['architecture']): Image {
  const created = '2026-10-01T01:00:00.000-07:00';
  return { project: imageProject, name, family, architecture, created, labels: {} };
}
