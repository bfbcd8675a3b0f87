/** Where the newest spec of a node class would have its machines, and of which image, as its cloud answers. */
import type { ResolvedPlacement } from '#machine/cloud/provider.ts';
import { MachineError, NodeClassError } from '#machine/errors.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { Clouds } from '../clouds.ts';
import { doubtOf, type Caution } from './cautions.ts';

/** A placement, with what its cloud says against launches there and may be wrong about. */
export interface Placed {
  readonly placement: ResolvedPlacement;
  readonly doubt?: Caution;
}

/** A spec whose placement is asked for. */
interface Wanted {
  readonly spec: UnikraftNodeClassSpec;
  /** The image that a stored revision of this spec has already. */
  readonly pinned: ResolvedNodeClass['image'] | undefined;
}

/**
 * An image is looked up once for a spec and stays: names that move on must not make a fleet of two images. Only
 * when it is gone from the cloud is the spec asked again, which makes another revision.
 */
export async function resolvePlacement(
  { spec, pinned }: Wanted,
  clouds: Clouds,
  signal: AbortSignal,
): Promise<ResolvedPlacement> {
  const cloud = await clouds.for(spec);
  if (!pinned) return cloud.resolve(spec, signal);
  try {
    return await cloud.resolve({ ...spec, image: { id: pinned.id } }, signal);
  } catch (error) {
    const isGone = error instanceof NodeClassError && error.condition === 'ImageReady';
    if (!isGone || spec.image.id === pinned.id) throw error;
    return cloud.resolve(spec, signal);
  }
}

/**
 * Whether machines may be made of what was found: a class that could never launch must not look ready.
 *
 * @throws NodeClassError with what the cloud refuses
 */
export async function rehearse(
  { nodeClass, spec }: Pick<ResolvedNodeClass, 'nodeClass' | 'spec'>,
  placement: ResolvedPlacement,
  { clouds, clusterUid }: { readonly clouds: Clouds; readonly clusterUid: string },
  signal: AbortSignal,
): Promise<Placed> {
  const cloud = await clouds.for(spec);
  const resolved = { nodeClass, spec, ...placement, dnsZoneID: '' };
  try {
    const doubt = await cloud.rehearse?.(resolved, clusterUid, signal);
    return { placement, ...(doubt && { doubt: doubtOf(doubt) }) };
  } catch (error) {
    const saysNothing = error instanceof MachineError && !(error instanceof NodeClassError);
    if (!saysNothing) throw error;
    return { placement }; // a cloud that is away says nothing about the class
  }
}
