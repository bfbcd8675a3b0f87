import type { Rule } from '../rule.ts';
import { pod } from '../samples.ts';
import { onPods } from './shared.ts';

const onVolumes = { ...onPods, path: 'spec.volumes[]' } as const satisfies Partial<Rule>;

const holding = (source: object): ReturnType<typeof pod> =>
  pod({ volumes: [{ name: 'a', ...source }] });

const resourceItem = {
  path: 'cpu',
  resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' },
};
const labelsItem = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };

const claimOf = (storageClassName: string): object => ({
  ephemeral: {
    volumeClaimTemplate: {
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName,
        resources: { requests: { storage: '1Gi' } },
      },
    },
  },
});

/** What a volume is on a Unikraft instance. */
export const volumeRules: readonly Rule[] = [
  {
    ...onVolumes,
    name: 'volume-is-not-of-a-host',
    code: 'KPU146',
    cel: '!has(self.hostPath)',
    message:
      'Kraftlet has hostPath off by default, and where it is on it is a new volume and no folder of a host.',
    fix: 'Use a ConfigMap, a Secret, an emptyDir or a PersistentVolumeClaim.',
    docs: 'A microVM has no host to share folders with.',
    accepts: [holding({ emptyDir: {} }), pod()],
    rejects: [holding({ hostPath: { path: '/var/log' } })],
  },
  {
    ...onVolumes,
    name: 'volume-is-not-in-memory',
    code: 'KPU147',
    cel: "!has(self.emptyDir) || !has(self.emptyDir.medium) || self.emptyDir.medium == ''",
    message: 'An emptyDir in memory is left out, so the folder is missing in the instance.',
    fix: 'Remove medium: an emptyDir on disk has 100 MiB unless it says its size.',
    docs: 'Kraftlet skips such volumes.',
    accepts: [holding({ emptyDir: { sizeLimit: '1Gi' } }), holding({ emptyDir: {} })],
    rejects: [holding({ emptyDir: { medium: 'Memory' } })],
  },
  {
    ...onVolumes,
    name: 'volume-gives-no-resource-fields',
    code: 'KPU151',
    cel: '(!has(self.downwardAPI) || !has(self.downwardAPI.items) || self.downwardAPI.items.all(i, !has(i.resourceFieldRef))) && (!has(self.projected) || !has(self.projected.sources) || self.projected.sources.all(s, !has(s.downwardAPI) || !has(s.downwardAPI.items) || s.downwardAPI.items.all(i, !has(i.resourceFieldRef))))',
    message: 'Kraftlet does not support resourceFieldRef, so the file has no content.',
    fix: 'Write the value, or read what the instance itself has.',
    docs: 'Fields of the Pod itself are supported.',
    accepts: [
      holding({ downwardAPI: { items: [labelsItem] } }),
      holding({ projected: { sources: [{ downwardAPI: { items: [labelsItem] } }] } }),
    ],
    rejects: [
      holding({ downwardAPI: { items: [labelsItem, resourceItem] } }),
      holding({ projected: { sources: [{ downwardAPI: { items: [resourceItem] } }] } }),
    ],
  },
  {
    ...onVolumes,
    name: 'volume-is-of-a-class-that-is-watched',
    code: 'KPU155',
    cel: "!has(self.ephemeral) || !has(self.ephemeral.volumeClaimTemplate) || !has(self.ephemeral.volumeClaimTemplate.spec.storageClassName) || self.ephemeral.volumeClaimTemplate.spec.storageClassName != 'ukc-volume'",
    message:
      "Volumes of class ukc-volume are made by Kraftlet's PVC watcher, which is off on machines of this operator.",
    fix: 'Use an emptyDir, or a class of storage outside of the machine.',
    docs: 'Such a volume lies on the machine and would end with it.',
    accepts: [holding(claimOf('standard')), holding({ emptyDir: {} })],
    rejects: [holding(claimOf('ukc-volume'))],
  },
];
