/** What a Pod's spec says about where it can go; Pods of one Deployment have one form. */
import type { Container, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { InvalidQuantity } from '#schemas/quantity/quantity.ts';

import { alternativesOf } from '../affinity.ts';
import { podRequests } from '../pod-requests.ts';
import type { Requirements } from '../requirements.ts';
import { rulesOf, type PodRules } from '../topology/terms.ts';
import { hostPortsOf, type HostPort } from './host-ports.ts';

/** All but how much it asks for. */
export interface PodForm {
  /** Its number in this pass. */
  readonly id: number;
  readonly spec: PodSpec;
  /** Kinds of node that it accepts; any will do. */
  readonly alternatives: readonly Requirements[];
  readonly rules: PodRules;
  readonly ports: readonly HostPort[];
}

/** How much it asks for: one object for all Pods of a pass that ask for the same. */
export interface PodAmounts {
  /** Its number in this pass. */
  readonly id: number;
  /** Empty where it cannot be read. */
  readonly requests: ResourceList;
  /** Why it cannot be read. */
  readonly trouble?: InvalidQuantity;
}

export interface Formed {
  readonly form: PodForm;
  readonly amounts: PodAmounts;
}

/** Forms of one pass. */
export class PodForms {
  readonly #forms = new Map<string, PodForm>();
  readonly #amounts = new Map<string, PodAmounts>();

  of({ spec = empty }: Pod): Formed {
    const { form, amounts } = textsOf(spec);
    return { form: this.#form(form, spec), amounts: this.#amountsOf(amounts, spec) };
  }

  get all(): readonly PodForm[] {
    return [...this.#forms.values()];
  }

  #form(text: string, spec: PodSpec): PodForm {
    const known = this.#forms.get(text);
    if (known) return known;
    const form = {
      id: this.#forms.size,
      spec,
      alternatives: alternativesOf(spec),
      rules: rulesOf(spec),
      ports: hostPortsOf(spec),
    };
    this.#forms.set(text, form);
    return form;
  }

  #amountsOf(text: string, spec: PodSpec): PodAmounts {
    const known = this.#amounts.get(text);
    if (known) return known;
    const amounts = { id: this.#amounts.size, ...asked(spec) };
    this.#amounts.set(text, amounts);
    return amounts;
  }
}

/** One Pod that cannot be read has a trouble of its own; all others are planned for. */
function asked(spec: PodSpec): Pick<PodAmounts, 'requests' | 'trouble'> {
  try {
    return { requests: podRequests(spec) };
  } catch (error) {
    if (error instanceof InvalidQuantity) return { requests: {}, trouble: error };
    throw error;
  }
}

const empty: PodSpec = { containers: [] };

/** All that matters, and nothing else: a name or an image more would make each Pod a form of its own. */
interface Texts {
  readonly form: string;
  readonly amounts: string;
}

/** Pods are looked at again in each pass, and objects of the caches never change. */
const known = new WeakMap<PodSpec, Texts>();

function textsOf(spec: PodSpec): Texts {
  const texts = known.get(spec) ?? { form: formText(spec), amounts: amountsText(spec) };
  known.set(spec, texts);
  return texts;
}

function formText(spec: PodSpec): string {
  const { containers, initContainers, volumes } = spec;
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec;
  const { resourceClaims } = spec as { resourceClaims?: unknown };
  return JSON.stringify([
    [nodeSelector, affinity, tolerations, topologySpreadConstraints],
    [containers.map(portsIn), initContainers?.map(portsIn)],
    [volumes?.map((volume) => Object.keys(volume)), resourceClaims],
  ]);
}

function portsIn({ ports, restartPolicy }: Container): unknown {
  const onHost = ports?.filter(({ hostPort }) => hostPort);
  return onHost?.length ? [onHost, restartPolicy] : 0;
}

function amountsText({ containers, initContainers, overhead, resources }: PodSpec): string {
  const sizes = [containers.map(sizeOf), initContainers?.map(sizeOf)];
  return JSON.stringify([sizes, overhead, resources]);
}

function sizeOf({ resources, restartPolicy }: Container): unknown {
  return [resources?.requests, resources?.limits, restartPolicy];
}
