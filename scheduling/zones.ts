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
import type { World } from './world.ts';

/** More than one zone, or any. */
const flexible = 'flexible';
const none = 'none';

/** @returns how many Pods can go to this zone only, by its name; to several (`flexible`); to no zone (`none`) */
export function zonesOf({ drafts }: Pick<World, 'drafts'>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [kind, { drafts: own }] of drafts) {
    if (kind.pending === 0) continue;
    const zone = zoneText(own.slice(-Math.max(1, placesOf(kind)))); // none of a kind with which something is wrong
    counts.set(zone, (counts.get(zone) ?? 0) + kind.pending);
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
  const set = asked.requirements.get(labels.zone);
  const named = set && !set.complement ? [...set.values] : undefined;
  const ruling = rules.filter(isOverZones);
  if (ruling.length === 0) return named;
  const allowed = allowedBy(ruling, named);
  return set ? allowed.filter((zone) => set.has(zone)) : allowed;
}

function isOverZones({ counter }: Rule): boolean {
  return counter.domains.key === labels.zone;
}

/**
 * Zones in which all rules would have the Pod just now.
 *
 * @param named  those that it asks for; any that nodes have or can have when absent
 */
function allowedBy(rules: readonly Rule[], named?: readonly string[]): string[] {
  const [{ counter }] = rules as [Rule];
  const { names } = counter.domains;
  const least = rules.map(leastOf);
  const zones = named?.map((zone) => names.indexOf(zone)) ?? [...counter.known];
  return zones
    .filter((domain) => rules.every((rule, index) => allows(rule, domain, least[index]!)))
    .map((domain) => names[domain] ?? '');
}
