import { fileURLToPath } from 'node:url';

import type { Programs } from '../host-node/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the images of the installation and of the stand-in chart are here. */
export function programs(options: {
  /** Of the cloud: how its SDK is led to it. */
  readonly cloudEnv: Readonly<Record<string, string>>;
  readonly dnsServer: string;
  readonly helm: string;
  /** Where the bundles are, to run what the image runs; absent: the sources, of which no build is needed. */
  readonly app?: string;
}): Programs {
  const { cloudEnv, dnsServer, helm, app } = options;
  const commandOf = app === undefined ? ofSources : ofBundles;
  return {
    'karpenter-provider-unikraft': {
      command: ({ command = [], args = [] }) => [...commandOf(command), ...args],
      cwd: app ?? root,
      env: {
        ...cloudEnv,
        DNS_SERVERS: dnsServer,
        HELM: helm,
        LISTEN_HOST: '127.0.0.1',
        WEBHOOK_HOSTNAMES: 'localhost',
        SHUTDOWN_DELAY: '0s',
      },
    },
    'ghcr.io/unikraft-cloud/kraftlet': {
      command: [process.execPath, fileURLToPath(new URL('../kraftlet/main.ts', import.meta.url))],
      env: { SANDBOX_DNS: dnsServer },
    },
  };
}

/** `node --flag controller/main.js` of the image is the same of `main.ts` of the tree. */
function ofSources(command: readonly string[]): string[] {
  return ofBundles(command).map((word) => word.replace(/\.js$/, '.ts'));
}

/** To the letter, but for which `node` it is. */
function ofBundles([, ...rest]: readonly string[]): string[] {
  return [process.execPath, ...rest];
}
