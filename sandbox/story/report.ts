import { availableParallelism } from 'node:os';

import type { AuditEntry } from '../control-plane/audit.ts';
import type { Told } from '../secrets/known-secrets.ts';
import { isClean, type Leaks } from '../world/leaks.ts';
import type { MachineSpan } from '../world/writes.ts';
import { writesPerNode } from '../world/writes.ts';
import type { PodCount } from './pods.ts';
import type { Timeline } from './timeline.ts';

/** More writes to one machine's claim and Node than this are churn. */
const mostWrites = 12;

interface Bar {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly bar: number;
  readonly ok: boolean;
}

/** What `--json` prints: the shape that every evidence command of the project ends with. */
export interface Report {
  readonly name: 'sandbox';
  readonly ok: boolean;
  readonly bars: readonly Bar[];
  readonly machine: { readonly cores: number };
  readonly kubernetes: string;
  readonly pods: { readonly wanted: number; readonly ran: number };
  readonly claims: readonly {
    name: string;
    nodepool: string;
    steps: { step: string; ms: number }[];
  }[];
  readonly writesPerNode: readonly number[];
  readonly leaks: Leaks;
  readonly secretsTold: readonly Told[];
}

export interface Evidence {
  readonly timeline: Timeline;
  readonly pods: PodCount;
  /** Pods that the story asked for in all: those that were scaled away and came again count again. */
  readonly wanted: number;
  readonly leaks: Leaks;
  readonly secretsTold: readonly Told[];
  readonly audit: readonly AuditEntry[];
  readonly spans: readonly MachineSpan[];
  readonly kubernetes: string;
}

export function reportOf(evidence: Evidence): Report {
  const { timeline, pods, wanted, leaks } = evidence;
  const writes = writesPerNode(evidence.audit, evidence.spans);
  const left = Object.values(leaks).reduce((sum, count) => sum + count, 0);
  const bars = [
    atMost('writes to NodeClaim and Node, most of any machine', Math.max(0, ...writes), mostWrites),
    atMost('left behind', left, 0),
    atMost('Pods that never ran', wanted - pods.ran, 0),
    atMost('secrets in logs and Events', evidence.secretsTold.length, 0),
  ];
  return {
    name: 'sandbox',
    ok: bars.every(({ ok }) => ok) && isClean(leaks),
    bars,
    machine: { cores: availableParallelism() },
    kubernetes: evidence.kubernetes,
    pods: { wanted, ran: pods.ran },
    claims: timeline.claims.map(({ name, nodepool, steps }) => ({
      name,
      nodepool,
      steps: steps.map(({ step, ms }) => ({ step, ms: Math.round(ms) })),
    })),
    writesPerNode: writes,
    leaks,
    secretsTold: evidence.secretsTold,
  };
}

function atMost(what: string, measured: number, bar: number): Bar {
  return { what, measured, unit: 'count', bar, ok: measured <= bar };
}
