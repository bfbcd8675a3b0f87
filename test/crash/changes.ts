/** What a node class becomes while its controller is dead: another place, another DNS zone, another namespace. */
import { applyAll } from '#sandbox/manifests/apply.ts';
import type { Manifest } from '#sandbox/manifests/render.ts';
import type { World } from '#sandbox/world/world.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

import { classOf, type Cloud } from './objects.ts';

const other = { zone: 'machines.elsewhere.test', namespace: 'kraftlet-elsewhere' };

/** Namespaces that releases may be put into, for the controller's KRAFTLET_NAMESPACES. */
export const kraftletNamespaces = `kraftlet,${other.namespace}`;

/** Makes what the other node class refers to: zones in both clouds, and a namespace with the controller's rights. */
export async function furnish({ cloud, client }: World): Promise<void> {
  const { route53, cloudDns, gce } = cloud;
  route53.zones.create(other.zone);
  cloudDns.create(gce.project.id, 'elsewhere', other.zone);
  await applyAll(client, releasesIn(other.namespace) as Manifest[]);
}

/** The node class as it is at first, and the same one moved. */
export function placesOf(cloud: Cloud): readonly [UnikraftNodeClass, UnikraftNodeClass] {
  const first = classOf(cloud);
  const { spec } = first;
  const moved = {
    ...spec,
    ...(spec.aws && { aws: { ...spec.aws, subnetSelectorTerms: [{ tags: { Name: inZone } }] } }),
    ...(spec.gcp && { gcp: { ...spec.gcp, zones: ['europe-west1-c'] } }),
    dns: { ...spec.dns, zone: other.zone },
    kraftlet: { ...spec.kraftlet, namespace: other.namespace },
  };
  return [first, { ...first, spec: moved }];
}

const inZone = 'sandbox-eu-central-1c';

/** As kustomize/rbac has it for `kraftlet`. */
function releasesIn(namespace: string): object[] {
  const name = 'karpenter-unikraft-releases';
  const verbs = ['get', 'list', 'create', 'patch', 'delete'];
  const rule = (group: string, ...resources: string[]) => ({
    apiGroups: [group],
    resources,
    verbs,
  });
  const rules = [
    rule('', 'secrets', 'configmaps', 'services', 'serviceaccounts'),
    rule('apps', 'statefulsets'),
    rule('policy', 'poddisruptionbudgets'),
  ];
  const rbac = 'rbac.authorization.k8s.io';
  const controller = {
    kind: 'ServiceAccount',
    name: 'karpenter-unikraft-controller',
    namespace: 'karpenter-unikraft',
  };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [controller],
    },
  ];
}
