/** What both are asked. Upstream's mix by size, and what is hard for a solver. */
import type { Task } from './karpenter.ts';

export interface Case extends Pick<Task, 'Kind' | 'Pods' | 'Nodes'> {
  readonly name: string;
  /** Upstream's own benchmark of it, unchanged, which is run as well where it takes seconds. */
  readonly own?: string;
  /** How many times upstream's Pods/s ours has to do at least. */
  readonly bar?: number;
  /**
   * Whether Karpenter is asked: with `--all` only, where it takes minutes. `stopped`: without `--all` it is stopped when it
   * has taken ten times what the bar allows.
   */
  readonly peer: 'always' | 'stopped' | 'all' | 'never';
}

/** Pods of the benchmark's sizes; a fifth of them must not share a node, so no plan has fewer nodes than a fifth. */
const mixes = [1, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000].map((Pods): Case => {
  const bar = barOf(Pods);
  return {
    name: `mix of ${Pods}`,
    Kind: 'mix',
    Pods,
    Nodes: 0,
    peer: Pods <= 2000 ? 'always' : 'all',
    ...(Pods <= 1000 && { own: `Scheduling${Pods}` }),
    ...(bar !== undefined && { bar }),
  };
});

function barOf(pods: number): number | undefined {
  if (pods >= 1000) return 200;
  return pods === 100 ? 50 : undefined;
}

const besideNodes = [1000, 3000, 10_000].map((Nodes): Case => {
  const most = Nodes === 10_000;
  return {
    name: `mix of 1000 beside ${Nodes} nodes`,
    Kind: 'mix',
    Pods: 1000,
    Nodes,
    peer: most ? 'always' : 'never',
    ...(most && { bar: 20 }),
  };
});

const hard: readonly Case[] = [
  {
    name: 'mix of 2000, all unlike',
    Kind: 'unlike',
    Pods: 2000,
    Nodes: 0,
    peer: 'always',
    bar: 20,
  },
  { name: '4000 plain, all unlike', Kind: 'plain', Pods: 4000, Nodes: 0, peer: 'always', bar: 20 },
  {
    name: '4000 with preferences',
    Kind: 'wishful',
    Pods: 4000,
    Nodes: 0,
    peer: 'stopped',
    bar: 20,
  },
];

export const cases: readonly Case[] = [...mixes, ...hard, ...besideNodes];

/** No plan for the mix has fewer machines: so many Pods must not share one. Undefined where nodes are there already. */
export function leastClaims({ Kind, Pods, Nodes }: Case): number | undefined {
  return Kind === 'mix' && Nodes === 0 ? Math.max(1, Math.floor(Pods / 5)) : undefined;
}
