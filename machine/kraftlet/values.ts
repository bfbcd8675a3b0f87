import { NodeClassError } from '../errors.ts';
import { faults } from '../faults.ts';
import type { ReleaseRequest } from './release.ts';

type Values = Record<string, unknown>;

/**
 * The chart's values for one machine: the user's, with ours over them. What ours name is replaced whole, so that
 * nothing of a user's taint, labels or replication is left in it.
 *
 * Value names: Unikraft's Kubernetes integration page.
 *
 * @throws NodeClassError for variables that would undo ours: of two with one name the last counts, and the chart puts
 * the user's last
 */
export function valuesFor(request: ReleaseRequest): Values {
  const { identity, kraftlet, endpoint, providerID, architecture, nodeLabels, nodeTaint } = request;
  const { key, value = '', effect } = nodeTaint;
  const users = kraftlet.values ?? {};
  refuseOurs(namesIn(objectAt(users, 'kraftlet')['env']));
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

/**
 * Variables by which Kraftlet is told what the values above say, and one that no value does: the finalizer that is taken
 * off its Pods when a machine is gone. Names: Unikraft's Kraftlet page, "Configuration".
 */
const ours = new Set([
  'KRAFTLET_NODE_NAME',
  'KRAFTLET_NODE_LABELS',
  'KRAFTLET_NODE_PROVIDER_ID',
  'KRAFTLET_ENABLE_NODE_TAINT',
  'KRAFTLET_NODE_TAINT_KEY',
  'KRAFTLET_NODE_TAINT_VALUE',
  'KRAFTLET_NODE_TAINT_EFFECT',
  'KRAFTLET_ENABLE_PVC_WATCHER',
  'KRAFTLET_UKC_TOKEN',
  'KRAFTLET_UKC_DEFAULT_METRO',
  'KRAFTLET_POD_FINALIZER',
]);

function refuseOurs(names: readonly string[]): void {
  const found = names.filter((name) => ours.has(name));
  if (found.length === 0) return;
  throw new NodeClassError(
    faults.variableRefused,
    `spec.kraftlet.values.kraftlet.env sets ${found.join(', ')}, which the operator sets for each machine; take ${found.length === 1 ? 'it' : 'them'} out`,
  );
}

/** Of variables as a map, or as a list of `{ name, value }`: charts take both. */
function namesIn(env: unknown): string[] {
  if (!Array.isArray(env)) return Object.keys((env ?? {}) as object);
  return env.flatMap((one: unknown) => {
    const { name } = (one ?? {}) as { name?: unknown };
    return typeof name === 'string' ? [name] : [];
  });
}

function objectAt(values: Values, key: string): Values {
  const value = values[key];
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Values)
    : {};
}
