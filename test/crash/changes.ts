/** What a node class becomes while its controller is dead: another region and zone, DNS zone and namespace. */
import { applyAll } from '#sandbox/manifests/apply.ts';
import type { Manifest } from '#sandbox/manifests/render.ts';
import type { World } from '#sandbox/world/world.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

import { classOf, type Cloud } from './objects.ts';

/** A zone for each cloud: of two that have one name only one is served. */
const other = {
  zones: { aws: 'machines.elsewhere.test', gcp: 'machines.far.test' },
  namespace: 'kraftlet-elsewhere',
};

/** Namespaces that releases may be put into, for the controller's KRAFTLET_NAMESPACES. */
export const kraftletNamespaces = `kraftlet,${other.namespace}`;

/** Makes what the other node class refers to: zones in both clouds, and a namespace with the controller's rights. */
export async function furnish({ cloud, client }: World): Promise<void> {
  const { route53, cloudDns, gce } = cloud;
  route53.zones.create(other.zones.aws);
  cloudDns.create(gce.project.id, 'far', other.zones.gcp);
  await applyAll(client, releasesIn(other.namespace) as Manifest[]);
}

/** The node class as it is at first, and the same one moved. */
export function placesOf(cloud: Cloud): readonly [UnikraftNodeClass, UnikraftNodeClass] {
  const first = classOf(cloud);
  const { spec } = first;
  const moved = {
    ...spec,
    ...(spec.aws && { aws: { ...spec.aws, region: 'eu-west-1', subnetSelectorTerms: [inZone] } }),
    ...(spec.gcp && { gcp: { ...spec.gcp, region: 'europe-west4', zones: ['europe-west4-c'] } }),
    dns: { ...spec.dns, zone: other.zones[cloud] },
    kraftlet: { ...spec.kraftlet, namespace: other.namespace },
  };
  return [first, { ...first, spec: moved }];
}

const inZone = { tags: { Name: 'sandbox-eu-west-1c' } };

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
