import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const page = read('docs/reference/conditions.md');

const sources = globSync(['controller/**/*.ts', 'machine/**/*.ts', 'kube/**/*.ts'], { cwd: root })
  .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
  .map((file) => [file, read(file)] as const);

/** Where an object is told something: of machine/ only what errors give as their reason to the controller. */
const telling = sources.filter(([file]) =>
  /^controller\/|^machine\/(errors|faults|bootstrap\/refusal)\.ts$/.test(file),
);

/** `'CertificateReady'`, `'DNSReady'`, `'Empty'`. */
const names = /'([A-Z]\w*[a-z]\w*)'/g;
/** Lines that give a condition its type or its reason, in the ways that the source has for it. */
const lines =
  /\b(?:types?|reason|condition)\b|^(?:export )?const \w+ = '|\b(?:fault|passing|absent|#tell|#event)\(/;

/** Words in the same places that we give no object: statuses, what Kubernetes says of Pods, settings, kinds of refusals. */
const others = new Set(
  [
    ['True', 'False', 'Unknown', 'Normal', 'Warning', 'Opaque'],
    ['DisruptionTarget', 'PodResizePending', 'PodScheduled', 'QuotaExceeded', 'Waiting'],
    ['KubeSchedulerConfiguration', 'PodTopologySpread', 'List', 'System'],
    ['Backoff', 'Limit', 'NoOfferings', 'NotReady', 'Requirements', 'Resources', 'Taints'],
    ['Unsupported'],
    ['KraftletNotReady'], // why a step without a condition waits
  ].flat(),
);

test('the page has every condition and every reason that an object is told', () => {
  const told = new Set(
    telling
      .flatMap(([, text]) => text.split('\n').filter((line) => lines.test(line)))
      .flatMap((line) => [...line.matchAll(names)].map(([, found = '']) => found)),
  );
  for (const one of ['Launched', 'DNSReady', 'PlatformSilent', 'Recovered', 'RecordsLeft']) {
    expect(told).toContain(one); // the code was found
  }
  const absent = [...told].filter((one) => !others.has(one) && !page.includes(`\`${one}\``));
  expect(absent.toSorted()).toEqual([]);
});

test('the page has no condition and no reason that nothing is told', () => {
  const code = sources.map(([, text]) => text).join('\n');
  const onPage = [...page.matchAll(/`([A-Z][A-Za-z]+)`/g)].map(([, found = '']) => found);
  const kinds = new Set([
    'UnikraftQuotaPolicy',
    'UnauthorizedOperation',
    'KraftletPod',
    'Kraftlet',
  ]);
  const unknown = onPage.filter(
    (one) => !kinds.has(one) && !code.includes(`'${one}'`) && !code.includes(`  ${one}: (`),
  );
  expect([...new Set(unknown)]).toEqual([]);
});
