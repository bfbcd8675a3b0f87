import type { Metrics } from '#kube/metrics.ts';

import type { Context } from '../../context.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import type { Parts } from '../chain.ts';
import { KraftletRelease } from '../kraftlet/release.ts';
import { Examination } from './examination.ts';
import { KraftletRepair } from './kraftlet-repair.ts';
import { LostHost } from './lost-host.ts';
import { Repair } from './repair.ts';
import { Replacement } from './replacement.ts';
import { Silence } from './silence.ts';

/** The repair of machines and their Kraftlets, from what the chains are made of. */
export function repairOf(
  context: Context,
  parts: Pick<Parts, 'machines' | 'platform' | 'releases' | 'writer'> & {
    readonly revisions: Pick<Revisions, 'get'>;
  },
  metrics: Metrics,
): Repair {
  const { client, caches, clock, recorder } = context;
  const { machines, platform, releases, revisions, writer } = parts;
  const release = new KraftletRelease(client, releases, machines);
  const lostHost = new LostHost(client, clock, recorder, new Silence(client, clock));
  return new Repair(context, {
    revisions,
    writer,
    examination: new Examination(caches, machines, platform),
    kraftlets: new KraftletRepair({ client, caches, clock, recorder, release, lostHost }),
    replacement: new Replacement(context, writer, metrics),
  });
}
