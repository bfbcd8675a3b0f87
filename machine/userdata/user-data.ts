import type { CloudName } from '#schemas/instances/cloud.ts';

import { UserDataTooLarge } from '../errors.ts';
import type { Bootstrap } from '../machine.ts';

/**
 * What each cloud takes, in bytes.
 *
 * Source: EC2 user guide, user data, counted before base64; Compute Engine docs, "About VM metadata", of one value.
 */
const maxBytes: Readonly<Record<CloudName, number>> = { aws: 16_384, gcp: 262_144 };

/** What a machine posts to, at the operator's bootstrap server. */
export const callbackPath = '/v1/bootstrap';

export const machineFile = '/etc/unikraft/machine.json';

/**
 * What a machine is told at its birth: cloud-config with one file that only root can read.
 *
 * The same bootstrap gives the same bytes, since a launch is repeated with the same token and must be the same
 * launch. What the vendor's image reads is not public: the format is this project's assumption, told in
 * docs/concepts/user-data.md.
 *
 * @throws UserDataTooLarge over what the cloud takes
 */
export function renderUserData(bootstrap: Bootstrap, cloud: CloudName): string {
  const { fqdn, port, quotas, secrets } = bootstrap;
  const { token, ...rest } = toldOf(secrets);
  const { vcpus, memoryMiB, volumeStorageMiB, instances } = quotas;
  const user = { token, quotas: { vcpus, memoryMiB, volumeStorageMiB, instances } };
  const machine = {
    apiVersion: 'machine.karpenter.unikraft.com/v1alpha1',
    fqdn,
    port,
    users: [{ name: 'kraftlet', ...user }],
    ...rest,
    config: sorted(bootstrap.config),
    imagePulls: bootstrap.imagePulls,
  };
  // a JSON string is a YAML double-quoted scalar, so that no line of a key is ever folded or re-indented
  const text = `#cloud-config
write_files:
  - path: ${machineFile}
    owner: root:root
    permissions: "0600"
    content: ${JSON.stringify(JSON.stringify(machine))}
`;
  const bytes = Buffer.byteLength(text);
  const most = maxBytes[cloud];
  if (bytes > most) {
    throw new UserDataTooLarge(
      `The user data of ${fqdn} has ${bytes} bytes and may have ${most}; shorten spec.platform.config, spec.platform.imagePulls or the activation Secret.`,
    );
  }
  return text;
}

/** JSON leaves out what is undefined. */
function toldOf(secrets: Bootstrap['secrets']) {
  if ('callback' in secrets) {
    const { url, token, audience, ca, cloud } = secrets.callback;
    return { bootstrap: { url: `${url}${callbackPath}`, token, audience, ca, cloud } };
  }
  const { token, tls, activation } = secrets;
  const { certificate, privateKey } = tls ?? {};
  return { token, tls: tls && { certificate, privateKey }, activationToken: activation };
}

function sorted(config: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(config).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
