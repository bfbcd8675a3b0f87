import { NodeSlot } from './node-slot.ts';
import { OpenClaim } from './open-claim.ts';
/**
 * The first solver: largest Pod first, each to the first place that takes it: a node in sight, a claim that this
 * pass has planned, a new claim of the first pool that can make one.
 *
 * It is exact about requests, selectors, required node affinity, taints, limits and DaemonSets; what depends on the
 * Pods of other nodes it either satisfies by giving a Pod a node of its own or refuses (see pod-shape.ts).
 */
import { candidatesOf, type Candidate } from './pod-shape.ts';
import type { Miss } from './sizing.ts';
import type { NodeInSight, Plan, Problem, Refusal, Solve } from './solver.ts';
import { templatesOf, type Template } from './template.ts';

export const firstSolver: Solve = (problem) => new Pass(problem).run();

class Pass {
  readonly #candidates: readonly Candidate[];
  readonly #slots: readonly NodeSlot[];
  readonly #templates: readonly Template[];
  readonly #claims: OpenClaim[] = [];
  readonly #nominations = new Map<string, string>();
  readonly #unschedulable = new Map<string, readonly Refusal[]>();

  constructor({ pods, nodes, pools, daemonSets }: Problem) {
    this.#candidates = candidatesOf(pods);
    this.#slots = nodes.toSorted(byKindAndName).map((node) => new NodeSlot(node));
    this.#templates = templatesOf(pools, daemonSets);
  }

  run(): Plan {
    for (const candidate of this.#candidates) this.#place(candidate);
    return {
      claims: this.#claims.map((claim) => claim.toPlan()),
      nominations: this.#nominations,
      unschedulable: this.#unschedulable,
    };
  }

  #place(candidate: Candidate): void {
    const { unjudged } = candidate.shape;
    if (unjudged !== undefined) {
      const miss: Miss = {
        reason: 'Unsupported',
        message: `has ${unjudged}, which is not supported`,
      };
      this.#refuse(
        candidate,
        this.#templates.map(({ name }) => ({ pool: name, ...miss })),
      );
      return;
    }
    const slot = this.#slots.find((each) => each.add(candidate));
    if (slot) this.#nominations.set(candidate.key, slot.node.name);
    else if (!this.#claims.some((claim) => !claim.add(candidate))) this.#open(candidate);
  }

  #open(candidate: Candidate): void {
    const refusals: Refusal[] = [];
    for (const template of this.#templates) {
      const claim = new OpenClaim(template);
      const miss = contradiction(template) ?? claim.add(candidate);
      if (!miss) {
        this.#claims.push(claim);
        return;
      }
      refusals.push({ pool: template.name, ...miss });
    }
    this.#refuse(candidate, refusals);
  }

  #refuse({ key }: Candidate, refusals: readonly Refusal[]): void {
    this.#unschedulable.set(key, refusals);
  }
}

function contradiction({ contradiction: key, fixed }: Template): Miss | undefined {
  if (key === undefined) return undefined;
  const message = `its own requirements exclude ${key}=${fixed[key]}, which all of its nodes have`;
  return { reason: 'Requirements', message };
}

/** What is there comes before what is on its way. */
function byKindAndName(a: NodeInSight, b: NodeInSight): number {
  if (a.kind !== b.kind) return a.kind === 'node' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
