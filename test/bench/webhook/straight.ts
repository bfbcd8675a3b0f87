/** What the server itself costs, without an API server: processor time per review, and memory after very many. */
import { milliseconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import { callInTurn, type Calls } from './caller.ts';
import { processorTime, resident, type Server } from './processes.ts';
import { callWith } from './reviews.ts';
import { median } from './statistics.ts';

/** Half of the Pods opt in, which is what has to be patched. */
const mix = [callWith('/mutate/pods', true), callWith('/mutate/pods', false)];

export interface CostResult {
  /** Reviews per second of processor time; medians. */
  readonly bare: number;
  readonly ours: number;
  readonly ratio: number;
  readonly failed: number;
}

/** Both in turn, in short slices, so that whatever else the computer does weighs on both. */
export async function measureCost(
  { bare, ours }: { readonly bare: Server; readonly ours: Server },
  { slices, length, clock }: { slices: number; length: Duration; clock: Clock },
): Promise<CostResult> {
  const rates: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
  const failed = { count: 0 };
  const one = async (name: 'bare' | 'ours', server: Server): Promise<void> => {
    const { rate, calls } = await costOf(server, clock, length);
    rates[name].push(rate);
    failed.count += calls.failed;
  };
  await costOf(bare, clock, length); // both have compiled their code before it counts
  await costOf(ours, clock, length);
  for (let slice = 0; slice < slices; slice++) {
    await one('bare', bare); // oxlint-disable-line no-await-in-loop -- in turn
    await one('ours', ours); // oxlint-disable-line no-await-in-loop
  }
  const ratio = median(rates.ours.map((rate, index) => rate / (rates.bare[index] ?? Number.NaN)));
  return { bare: median(rates.bare), ours: median(rates.ours), ratio, failed: failed.count };
}

async function costOf(
  server: Server,
  clock: Clock,
  length: Duration,
): Promise<{ rate: number; calls: Calls }> {
  const end = clock.now() + length;
  const before = processorTime(server);
  const calls = await callInTurn(server, mix, () => clock.now() >= end);
  await clock.sleep(milliseconds(20));
  return { rate: calls.done / (processorTime(server) - before), calls };
}

export interface MemoryResult {
  readonly reviews: number;
  readonly failed: number;
  /** MiB, at each tenth of the way. */
  readonly resident: readonly number[];
}

export async function measureMemory(
  ours: Server,
  reviews: number,
  tell: (line: string) => void,
): Promise<MemoryResult> {
  const seen: number[] = [];
  const counts = { done: 0, failed: 0 };
  for (let tenth = 1; tenth <= 10; tenth++) {
    // oxlint-disable-next-line no-await-in-loop -- one tenth after the other
    const calls = await callInTurn(ours, mix, (started) => started >= reviews / 10);
    counts.done += calls.done;
    counts.failed += calls.failed;
    seen.push(resident(ours));
    tell(`memory: ${counts.done} reviews, ${resident(ours).toFixed(1)} MiB`);
  }
  return { reviews: counts.done, failed: counts.failed, resident: seen };
}
