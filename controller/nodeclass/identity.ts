/**
 * What makes two node classes make the same machines: the identity of a revision.
 *
 * Behaviour (deadlines) has no part in it. Absent equals the default, selector terms are sets, quantities and
 * durations count by value, so that respelling a manifest replaces no machine.
 */
import { withDefaults } from '#schemas/nodeclass/defaults.ts';
import type { PlatformSpec, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import { asSet, exactly, fingerprint } from '../hash.ts';

/** The part of a spec that a machine is made from, with everything that is absent said out loud. */
export function staticPart(spec: UnikraftNodeClassSpec): UnikraftNodeClassSpec {
  const { deadlines: _, ...rest } = withDefaults(spec);
  return rest;
}

/** Equal for specs that ask for the same, before anything is looked up. */
export function specHash(spec: UnikraftNodeClassSpec): string {
  return fingerprint(normalised(staticPart(spec)), 20);
}

/**
 * Name of the ControllerRevision for a spec with its image and certificate: readable, short enough for a label value, and different
 * for two classes whose names begin alike.
 */
export function revisionName(
  nodeClass: string,
  spec: UnikraftNodeClassSpec,
  { imageID, certificate }: { imageID: string; certificate?: string | undefined },
): string {
  const found = { nodeClass, spec: normalised(staticPart(spec)), imageID, certificate };
  const hash = fingerprint(found, 10);
  return `${nodeClass.slice(0, 52).replace(/[-.]+$/, '')}-${hash}`; // 52 + 1 + 10 = 63
}

function normalised(spec: UnikraftNodeClassSpec): unknown {
  const { aws, gcp, image, platform, certificate, kraftlet, tags, ...rest } = spec;
  return {
    ...rest,
    aws: aws && {
      ...aws,
      subnetSelectorTerms: asSet(aws.subnetSelectorTerms),
      securityGroupSelectorTerms: asSet(aws.securityGroupSelectorTerms),
      blockDevices: aws.blockDevices?.map((device) => ({
        ...device,
        volumeSize: amount(device.volumeSize),
      })),
    },
    gcp: gcp && {
      ...gcp,
      zones: asSet(gcp.zones),
      networkTags: asSet(gcp.networkTags),
      nestedVirtualizationFamilies: asSet(gcp.nestedVirtualizationFamilies),
      disks: gcp.disks?.map((disk) => ({ ...disk, size: amount(disk.size) })),
    },
    image: { id: image.id, selectorTerms: asSet(image.selectorTerms) },
    platform: platform && normalisedPlatform(platform),
    certificate: {
      ...certificate,
      api: { ...certificate.api, duration: span(certificate.api.duration) },
    },
    kraftlet: { ...kraftlet, values: exactly(kraftlet.values) },
    tags: exactly(tags),
  };
}

function normalisedPlatform(platform: PlatformSpec): unknown {
  const { overhead, capacity, config, ...rest } = platform;
  return {
    ...rest,
    overhead: overhead && { ...overhead, memory: amount(overhead.memory) },
    capacity: capacity && {
      ...capacity,
      vcpus: amount(capacity.vcpus),
      memory: amount(capacity.memory),
      volumeStorage: amount(capacity.volumeStorage),
    },
    config: exactly(config),
  };
}

/** Thousandths, as text; a percentage, or what cannot be read, stands for itself. */
function amount(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : read(value, () => `${Quantity.parse(value).toMilli()}m`);
}

function span(value: string | undefined): string | undefined {
  return value === undefined ? undefined : read(value, () => `${parseDuration(value)}ms`);
}

function read(value: string | number, parse: () => string): string {
  try {
    return parse();
  } catch {
    return String(value);
  }
}
