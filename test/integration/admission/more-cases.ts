import type { Container, Pod } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import type { Case } from '#schemas/rules/corpus.ts';
import { labelRule } from '#schemas/rules/pod/label.ts';
import { container, pod } from '#schemas/rules/samples.ts';

const probed = { livenessProbe: { tcpSocket: { port: 80 } } };

const sized = (cpu: string): Partial<Container> => ({ resources: { requests: { cpu } } });

const running = (changes: Parameters<typeof container>[0]): Pod =>
  pod({ containers: [container(changes)] });

/** Updates of Pods that an API server lets through as far as policies: most of a Pod may not change at all. */
export const updatesOfPods: readonly Case[] = [
  {
    name: 'a Pod that is resized',
    operation: 'UPDATE',
    subResource: 'resize',
    oldObject: running(sized('1')),
    object: running(sized('2')),
    odd: false,
  },
  {
    name: 'a Pod that gets another image',
    operation: 'UPDATE',
    oldObject: running(probed),
    object: running({
      image: 'registry.example.com/app:2',
      ...probed,
    }),
    odd: false,
  },
  {
    name: 'a Pod that only becomes ours by a label',
    operation: 'UPDATE',
    oldObject: elsewhere({}),
    object: elsewhere({ [labels.inject]: 'true' }),
    odd: false,
  },
];

/** Samples of the rule that stands beside the table. */
export const labelsOfPods: readonly Case[] = [...labelRule.accepts, ...labelRule.rejects].map(
  (object, index) => ({
    name: `${labelRule.name} ${index}`,
    operation: 'CREATE',
    object,
    odd: false,
  }),
);

function elsewhere(given: Record<string, string>): Pod {
  const made = pod({ containers: [container(probed)] });
  const { nodeSelector: _, tolerations: __, ...spec } = made.spec ?? { containers: [] };
  return { ...made, metadata: { ...made.metadata, labels: given }, spec };
}
