import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Authority } from '#pki/authority.ts';
import { hours, type Clock } from '#schemas/time/clock.ts';

/** Who may do what from the first moment: users by static token, as the control plane's own parts need them. */
const USERS = {
  admin: { user: 'admin', groups: ['system:masters'] },
  scheduler: { user: 'system:kube-scheduler', groups: [] },
  controllerManager: { user: 'system:kube-controller-manager', groups: [] },
} as const;

export type UserName = keyof typeof USERS;

/** Paths of files unless said otherwise. */
export interface Credentials {
  readonly ca: string;
  /** The CA certificate itself, PEM. */
  readonly caPem: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly tokenFile: string;
  /** The tokens themselves. */
  readonly tokens: Readonly<Record<UserName, string>>;
}

/**
 * Makes all that the control plane proves itself with, in `folder`, readable by the owner only. A week is far
 * more than a sandbox lives.
 */
export async function makeCredentials(folder: string, clock: Clock): Promise<Credentials> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const validity = hours(24 * 7);
  const authority = await Authority.create(clock, {
    commonName: 'sandbox control plane',
    validity,
  });
  const server = await authority.issue({
    names: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    addresses: ['127.0.0.1', '10.0.0.1'],
    validity,
  });
  const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const tokens = { admin: token(), scheduler: token(), controllerManager: token() };
  return {
    ca: await write('ca.crt', authority.pem.certificate),
    caPem: authority.pem.certificate,
    serverCertificate: await write('server.crt', server.certificate),
    serverKey: await write('server.key', server.privateKey),
    serviceAccountKey: await write(
      'service-account.key',
      signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ),
    serviceAccountPublicKey: await write(
      'service-account.pub',
      signer.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ),
    tokenFile: await write('tokens.csv', tokenLines(tokens)),
    tokens,
  };
}

const token = (): string => randomBytes(24).toString('hex');

/**
 * `token,user,uid,"group1,group2"` for each user.
 *
 * Source: Kubernetes, "Authenticating", static token file.
 */
function tokenLines(tokens: Record<UserName, string>): string {
  const names = Object.keys(USERS) as UserName[];
  const lines = names.map((name) => {
    const { user, groups } = USERS[name];
    return `${tokens[name]},${user},${user},"${groups.join(',')}"`;
  });
  return `${lines.join('\n')}\n`;
}

/** A kubeconfig as JSON, which is YAML too. */
export function kubeconfig(server: string, caPem: string, userToken: string): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'sandbox',
        cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
      },
    ],
    users: [{ name: 'sandbox', user: { token: userToken } }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox' } }],
    'current-context': 'sandbox',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
