import type { Template } from '../machines/template.ts';
import { unbearable, type Variant } from '../pods/variant.ts';
import type { NodeKind } from './node-kind.ts';

/** Whether a Pod can go to a place: never again in this pass, not as things stand, or now. */
export type Verdict = 'never' | 'not now' | 'fits';

/** What is found out about the places that one variant can bear, so that nothing is asked twice. */
export class Probe {
  readonly variant: Variant;
  /** Rules about Pods that nobody knows hold only where there are none. */
  readonly keepsToEmpty: boolean;
  /** What a refusal by rules over Pods means: it may pass while something can still open a domain. */
  readonly refusal: Verdict;
  readonly #kinds = new Map<NodeKind, boolean>();
  readonly #templates = new Map<Template, boolean>();

  constructor(variant: Variant, knowsPods: boolean) {
    this.variant = variant;
    this.keepsToEmpty = !knowsPods && (variant.ports.length > 0 || variant.isRuled);
    this.refusal = variant.opening.length > 0 ? 'not now' : 'never';
  }

  /** Whether labels and taints of such nodes are right. */
  suits(kind: NodeKind): boolean {
    let suits = this.#kinds.get(kind);
    if (suits === undefined) {
      suits = !unbearable(this.variant, kind.taints) && kind.satisfies(this.variant.asked);
      this.#kinds.set(kind, suits);
    }
    return suits;
  }

  /** Whether a pool's machines can be asked for at all. */
  bears(template: Template): boolean {
    let bears = this.#templates.get(template);
    if (bears === undefined) {
      const isOpen = template.contradiction === undefined;
      const { asked } = this.variant;
      bears =
        isOpen && asked.restricted === undefined && !unbearable(this.variant, template.taints);
      this.#templates.set(template, bears);
    }
    return bears;
  }
}
