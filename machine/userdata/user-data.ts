import { UserDataTooLarge } from '../errors.ts';
import type { Bootstrap } from '../machine.ts';

/** What EC2 takes, counted before base64; other clouds take more. */
const maxBytes = 16_384;

export const machineFile = '/etc/unikraft/machine.json';

/**
 * What a machine is told at its birth: cloud-config with one file that only root can read.
 *
 * The same bootstrap gives the same bytes, since a launch is repeated with the same token and must be the same
 * launch. What the vendor's image reads is not public: the format is this project's assumption, told in
 * docs/concepts/user-data.md.
 *
 * @throws UserDataTooLarge over 16 KiB
 */
export function renderUserData(bootstrap: Bootstrap): string {
  const { fqdn, port, token, quotas, tls, activation } = bootstrap;
  const { vcpus, memoryMiB, volumeStorageMiB, instances } = quotas;
  const machine = {
    apiVersion: 'machine.karpenter.unikraft.com/v1alpha1',
    fqdn,
    port,
    users: [{ name: 'kraftlet', token, quotas: { vcpus, memoryMiB, volumeStorageMiB, instances } }],
    ...(tls && { tls: { certificate: tls.certificate, privateKey: tls.privateKey } }),
    ...(activation === undefined ? {} : { activationToken: activation }),
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
  if (bytes > maxBytes) {
    throw new UserDataTooLarge(
      `The user data of ${fqdn} has ${bytes} bytes and may have ${maxBytes}; shorten spec.platform.config, spec.platform.imagePulls or the activation Secret.`,
    );
  }
  return text;
}

function sorted(config: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(config).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
