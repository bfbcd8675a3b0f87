/** What is kept of the rules between Pods and about nodes: all of them. The types name only their outer fields. */
import { at, list, message, number, open, text, texts, word } from '#kube/shapes/shape.ts';
import type { PodTerm, Spread, WeightedPodTerm } from '#scheduling/topology/terms.ts';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
} from '#schemas/kubernetes/core.ts';
import type { LabelSelector } from '#schemas/kubernetes/meta.ts';

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

export const labelSelector = message<LabelSelector>({
  matchLabels: at(1, texts()),
  matchExpressions: at(
    2,
    list(
      message<Expression>({ key: at(1, text), operator: at(2, word), values: at(3, list(text)) }),
    ),
  ),
});

const nodeRequirement = message<NodeSelectorRequirement>({
  key: at(1, text),
  operator: at(2, word),
  values: at(3, list(text)),
});

export const nodeTerm = message<NodeSelectorTerm>({
  matchExpressions: at(1, list(nodeRequirement)),
  matchFields: at(2, list(nodeRequirement)),
});

type Affinity = NonNullable<PodSpec['affinity']>;
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;
type Required = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>;
type Preferred = NonNullable<NodeAffinity['preferredDuringSchedulingIgnoredDuringExecution']>;

const nodeAffinity = message<NodeAffinity>({
  requiredDuringSchedulingIgnoredDuringExecution: at(
    1,
    message<Required>({ nodeSelectorTerms: at(1, list(nodeTerm)) }),
  ),
  preferredDuringSchedulingIgnoredDuringExecution: at(
    2,
    list(message<Preferred[number]>({ weight: at(1, number), preference: at(2, nodeTerm) })),
  ),
});

const podTerm = message<PodTerm>({
  topologyKey: at(3, word),
  labelSelector: at(1, labelSelector),
  namespaces: at(2, list(text)),
  namespaceSelector: at(4, labelSelector),
  matchLabelKeys: at(5, list(text)),
  mismatchLabelKeys: at(6, list(text)),
});

interface PodRulesOfSpec {
  requiredDuringSchedulingIgnoredDuringExecution?: readonly PodTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodTerm[];
}

/** Pod affinity and anti-affinity are written alike. */
const podRules = open(
  message<PodRulesOfSpec>({
    requiredDuringSchedulingIgnoredDuringExecution: at(1, list(podTerm)),
    preferredDuringSchedulingIgnoredDuringExecution: at(
      2,
      list(message<WeightedPodTerm>({ weight: at(1, number), podAffinityTerm: at(2, podTerm) })),
    ),
  }),
);

export const affinity = message<Affinity>({
  nodeAffinity: at(1, nodeAffinity),
  podAffinity: at(2, podRules),
  podAntiAffinity: at(3, podRules),
});

export const spreadConstraint = open(
  message<Spread>({
    maxSkew: at(1, number),
    topologyKey: at(2, word),
    whenUnsatisfiable: at(3, word),
    labelSelector: at(4, labelSelector),
    minDomains: at(5, number),
    nodeAffinityPolicy: at(6, word),
    nodeTaintsPolicy: at(7, word),
    matchLabelKeys: at(8, list(text)),
  }),
);
