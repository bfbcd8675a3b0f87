/**
 * How each program of the control plane is started: on loopback only, alone (no leader election), without TLS
 * towards etcd, and without fsync, since the data dies with the world.
 */
import type { Command } from '../processes/parent-death.ts';
import type { Tools } from '../tools/tools.ts';
import type { Credentials } from './credentials.ts';

export function etcd(tools: Tools, data: string, ports: { client: number; peer: number }): Command {
  const client = `http://127.0.0.1:${ports.client}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    tools.etcd,
    `--data-dir=${data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
  ];
}

/** What etcd logs once clients may come: looked for in its log, since another etcd could answer on the port. */
export const ETCD_READY = 'ready to serve client requests';

export interface ApiServerOptions {
  readonly etcdPort: number;
  readonly port: number;
  readonly credentials: Credentials;
  readonly audit?: { readonly policy: string; readonly log: string };
}

export function apiServer(tools: Tools, options: ApiServerOptions): Command {
  const { credentials, audit } = options;
  return [
    tools.kubeApiserver,
    `--etcd-servers=http://127.0.0.1:${options.etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${options.port}`,
    `--tls-cert-file=${credentials.serverCertificate}`,
    `--tls-private-key-file=${credentials.serverKey}`,
    `--token-auth-file=${credentials.tokenFile}`,
    `--service-account-key-file=${credentials.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=RBAC,Node',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--endpoint-reconciler-type=none', // Endpoints cannot hold the loopback address
    '--allow-privileged=true',
    '--enable-priority-and-fairness=false',
    ...(audit
      ? [
          `--audit-policy-file=${audit.policy}`,
          `--audit-log-path=${audit.log}`,
          '--audit-log-maxsize=10000', // megabytes: one file, never turned over
        ]
      : []),
  ];
}

const RATE = { qps: 200, burst: 400 };

/** Port 0 turns their own servers off: nobody asks them anything. */
const CLIENT_OF = (kubeconfig: string): string[] => [
  `--kubeconfig=${kubeconfig}`,
  '--secure-port=0',
  '--leader-elect=false',
  `--kube-api-qps=${RATE.qps}`,
  `--kube-api-burst=${RATE.burst}`,
];

export function scheduler(tools: Tools, kubeconfig: string, config?: string): Command {
  if (config === undefined) return [tools.kubeScheduler, ...CLIENT_OF(kubeconfig)];
  return [tools.kubeScheduler, `--config=${config}`, '--secure-port=0'];
}

/** A scheduler that is told by a file hears of flags no more: how to reach the API server stands in the file too. */
export function schedulerConfig(kubeconfig: string, config: object): string {
  return JSON.stringify({
    ...config,
    clientConnection: { kubeconfig, ...RATE },
    leaderElection: { leaderElect: false },
  });
}

export function controllerManager(
  tools: Tools,
  kubeconfig: string,
  credentials: Credentials,
): Command {
  return [
    tools.kubeControllerManager,
    ...CLIENT_OF(kubeconfig),
    `--root-ca-file=${credentials.ca}`,
    `--service-account-private-key-file=${credentials.serviceAccountKey}`,
    '--use-service-account-credentials=true',
    '--controllers=*,-node-ipam-controller',
  ];
}
