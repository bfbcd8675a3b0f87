/**
 * Which zones Pods that are pending can go to, by what they ask themselves and by the Pods that have a place, before
 * any of them is placed. Wishes do not count, nor what zones pools have machines in.
 *
 * Source: Karpenter v1.15, pkg/controllers/provisioning/scheduling/scheduler.go. Of several required terms of node
 * affinity upstream looks at the first alone, here all count.
 */
import { labels } from '#schemas/names.ts';

import { placesOf, type Draft } from './pods/variant.ts';
import { allows, leastOf, type Rule } from './topology/rule.ts';
import type { ValueSet } from './value-set.ts';
import type { World } from './world.ts';

/** More than one zone, or any. */
const flexible = 'flexible';
const none = 'none';

type Asked = Pick<World, 'queue' | 'drafts'>;

/** @returns how many Pods can go to this zone only, by its name; to several (`flexible`); to no zone (`none`) */
export function zonesOf({ queue, drafts }: Asked): Map<string, number> {
  const counts = new Map<string, number>();
  const byKind = Map.groupBy(queue, ({ group }) => group.kind);
  for (const [kind, queued] of byKind) {
    const pending = queued.reduce((sum, { group }) => sum + group.pending, 0);
    if (pending === 0) continue;
    const { drafts: own = [] } = drafts.get(kind) ?? {}; // none of a kind with which something is wrong
    const zone = zoneText(own.slice(-Math.max(1, placesOf(kind))));
    counts.set(zone, (counts.get(zone) ?? 0) + pending);
  }
  return counts;
}

/** @param drafts  kinds of node that are accepted: any will do */
function zoneText(drafts: readonly Draft[]): string {
  const zones = new Set<string>();
  for (const draft of drafts) {
    const own = zonesAsked(draft);
    if (!own) return flexible;
    for (const zone of own) zones.add(zone);
    if (zones.size > 1) return flexible;
  }
  const [only = none] = zones;
  return only;
}

/** Undefined where neither its labels nor its rules say anything. */
function zonesAsked({ asked, rules }: Draft): readonly string[] | undefined {
  const ruling = rules.filter(({ counter }) => counter.domains.key === labels.zone);
  const set = asked.requirements.get(labels.zone);
  const named = set && !set.complement ? [...set.values] : undefined;
  if (ruling.length === 0) return named;
  return (named ?? namesIn(ruling)).filter((zone) => isAllowed(zone, set, ruling));
}

/** Zones that nodes have or can have. */
function namesIn([rule]: readonly Rule[]): readonly string[] {
  if (!rule) return [];
  const { domains, known } = rule.counter;
  return [...known].map((domain) => domains.names[domain] ?? '');
}

function isAllowed(zone: string, set: ValueSet | undefined, rules: readonly Rule[]): boolean {
  if (set && !set.has(zone)) return false;
  return rules.every((rule) => {
    const domain = rule.counter.domains.names.indexOf(zone);
    return allows(rule, domain, leastOf(rule));
  });
}
