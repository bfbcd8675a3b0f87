/** The parts of a Pod that only who runs it reads; the shared types leave them open. */
import type { Container } from '#schemas/kubernetes/core.ts';

export interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface FieldRef {
  readonly fieldPath: string;
}

export interface EnvSource {
  readonly fieldRef?: FieldRef;
  readonly secretKeyRef?: KeyRef;
  readonly configMapKeyRef?: KeyRef;
}

export interface EnvFrom {
  readonly prefix?: string;
  readonly secretRef?: { readonly name: string; readonly optional?: boolean };
  readonly configMapRef?: { readonly name: string; readonly optional?: boolean };
}

export interface Probe {
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly scheme?: 'HTTP' | 'HTTPS';
  };
  readonly tcpSocket?: { readonly port: number | string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface RunnableContainer extends Container {
  readonly envFrom?: readonly EnvFrom[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

/** A Secret or ConfigMap as a source of files; a volume of a Secret says `secretName` where all others say `name`. */
export interface ObjectSource {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

export interface TokenSource {
  readonly path: string;
  readonly audience?: string;
  readonly expirationSeconds?: number;
}

export interface DownwardSource {
  readonly items?: readonly { readonly path: string; readonly fieldRef?: FieldRef }[];
}

export interface ProjectedSource {
  readonly secret?: ObjectSource;
  readonly configMap?: ObjectSource;
  readonly serviceAccountToken?: TokenSource;
  readonly downwardAPI?: DownwardSource;
}

export interface Volume {
  readonly name: string;
  readonly secret?: ObjectSource;
  readonly configMap?: ObjectSource;
  readonly downwardAPI?: DownwardSource;
  readonly projected?: { readonly sources?: readonly ProjectedSource[] };
  readonly emptyDir?: object;
}
