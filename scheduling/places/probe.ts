import type { Template } from '../machines/template.ts';
import { unmounted } from '../pods/drivers.ts';
import { unbearable, type Variant } from '../pods/variant.ts';
import type { Amounts } from '../slots.ts';
import type { NodeKind } from './node-kind.ts';

/** Whether a Pod can go to a place: never again in this pass, not as things stand, or now. */
export type Verdict = 'never' | 'not now' | 'fits';

/** A group's question to places, in one of its variants. */
export class Probe {
  readonly variant: Variant;
  readonly needs: Amounts;
  /** Rules about Pods that nobody knows hold only where there are none. */
  readonly keepsToEmpty: boolean;
  /** What a refusal by rules over Pods means: it may pass while something can still open a domain. */
  readonly refusal: Verdict;

  constructor(variant: Variant, needs: Amounts, knowsPods: boolean) {
    this.variant = variant;
    this.needs = needs;
    this.keepsToEmpty = !knowsPods && (variant.ports.length > 0 || variant.isRuled);
    this.refusal = variant.opening.length > 0 ? 'not now' : 'never';
  }

  /** Whether labels and taints of such nodes are right. */
  suits(kind: NodeKind): boolean {
    const { suited } = this.variant;
    let suits = suited.get(kind);
    if (suits === undefined) {
      suits = !unbearable(this.variant, kind.taints) && kind.satisfies(this.variant.asked);
      suited.set(kind, suits);
    }
    return suits;
  }

  /** Whether a pool's machines can be asked for at all. */
  bears(template: Template): boolean {
    const { borne } = this.variant;
    let bears = borne.get(template);
    if (bears === undefined) {
      const isOpen = template.contradiction === undefined;
      const { asked } = this.variant;
      bears =
        isOpen &&
        asked.restricted === undefined &&
        !unbearable(this.variant, template.taints) &&
        unmounted(this.variant.drivers, template.inSight.drivers) === undefined;
      borne.set(template, bears);
    }
    return bears;
  }
}
