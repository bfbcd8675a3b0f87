/** What must hold of the figures. */
import { atLeast, atMost, type Bar } from '../webhook/statistics.ts';
import { leastClaims, type Case } from './cases.ts';
import type { Priced } from './karpenter.ts';
import type { Solved } from './solving.ts';

export interface Peer extends Omit<Priced, 'OnNodes' | 'PeakMiB'> {
  readonly OnNodes?: number;
  readonly PeakMiB?: number;
  /** It was ended after so long without an answer: its Pods/s are the most that they can be, its answer is a recorded one. */
  readonly stopped?: boolean;
  /** Pods/s that its unchanged benchmark prints, where it has the case. */
  readonly printed?: number;
  /** The better of that and of the Solve that is priced, so that nothing of ours counts against it. */
  readonly podsPerSecond: number;
}

/** A case and what came of it. */
export interface Row {
  readonly asked: Case;
  readonly ours: Solved;
  /** Absent where Karpenter was not asked in this run. */
  readonly peer?: Peer;
}

type Compared = Required<Row>;

export const podsPerSecond = ({ asked, ours }: Row): number => asked.Pods / ours.seconds;

export function barsOf(rows: readonly Row[]): Bar[] {
  const compared = rows.filter((row): row is Compared => row.peer !== undefined);
  return [...compared.flatMap(speedBar), ...answerBars(rows, compared), ...growthBars(rows)];
}

function speedBar(row: Compared): Bar[] {
  const { bar, name } = row.asked;
  if (bar === undefined) return [];
  return [
    atLeast(
      `${name}: Pods/s, to Karpenter's`,
      podsPerSecond(row) / row.peer.podsPerSecond,
      bar,
      '×',
    ),
  ];
}

/** Over all cases, the worst. */
function answerBars(rows: readonly Row[], compared: readonly Compared[]): Bar[] {
  const most = (values: readonly number[]): number => Math.max(...values);
  const aboveLeast = rows.map(
    ({ asked, ours }) => ours.claims - (leastClaims(asked) ?? ours.claims),
  );
  return [
    atMost(
      "machines more than Karpenter's",
      most(compared.map(({ ours, peer }) => ours.claims - peer.Claims)),
      0,
    ),
    atMost('machines more than the fewest that can be, in the mix', most(aboveLeast), 0),
    atMost("hourly cost, to Karpenter's", most(compared.map(costRatio)), 1, '×'),
    atMost('Pods without a place', most(rows.map(({ ours }) => ours.failed)), 0),
  ];
}

/** To nine digits, since the same prices in another order sum up to something else in the last; records are in cents. */
function costRatio({ ours, peer }: Compared): number {
  const price = peer.stopped ? Math.round(ours.price * 100) / 100 : ours.price;
  return Math.round((price / peer.Price) * 1e9) / 1e9;
}

/** At most linear: so many times the Pods, or nodes, at most so many times the time. */
function growthBars(rows: readonly Row[]): Bar[] {
  const seconds = (pods: number, nodes: number): number =>
    rows.find(({ asked }) => asked.Kind === 'mix' && asked.Pods === pods && asked.Nodes === nodes)
      ?.ours.seconds ?? Number.NaN;
  return [
    atMost(
      'time for 20,000 Pods, to that for 1,000',
      seconds(20_000, 0) / seconds(1000, 0),
      20,
      '×',
    ),
    atMost(
      'time beside 10,000 nodes, to that beside 1,000',
      seconds(1000, 10_000) / seconds(1000, 1000),
      10,
      '×',
    ),
  ];
}
