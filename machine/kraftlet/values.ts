import type { ReleaseRequest } from './release.ts';

type Values = Record<string, unknown>;

/**
 * The chart's values for one machine: the user's, with ours over them. What ours name is replaced whole, so that
 * nothing of a user's taint, labels or replication is left in it.
 *
 * Value names: Unikraft's Kubernetes integration page.
 */
export function valuesFor(request: ReleaseRequest): Values {
  const { identity, kraftlet, endpoint, providerID, architecture, nodeLabels, nodeTaint } = request;
  const { key, value = '', effect } = nodeTaint;
  const users = kraftlet.values ?? {};
  const port = endpoint.port === 443 ? '' : `:${endpoint.port}`;
  return {
    ...users,
    ukc: {
      ...objectAt(users, 'ukc'),
      metro: `https://${endpoint.fqdn}${port}`,
      token: endpoint.token,
    },
    node: {
      ...objectAt(users, 'node'),
      name: identity.name,
      providerId: providerID,
      architecture,
      labels: nodeLabels,
      taint: { enable: true, key, value, effect },
    },
    kraftlet: {
      ...objectAt(users, 'kraftlet'),
      replication: { enabled: false, replicas: 1 },
      enablePvcWatcher: false,
    },
    priorityClassName,
  };
}

/** A Kraftlet that is evicted takes all Pods of its Node with it. */
export const priorityClassName = 'system-cluster-critical';

function objectAt(values: Values, key: string): Values {
  const value = values[key];
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Values)
    : {};
}
