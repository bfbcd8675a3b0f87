/**
 * The fields of cert-manager's kinds that we read or write.
 *
 * Source: cert-manager 1.x, API reference of cert-manager.io/v1.
 */
import type { Condition, KubeObject } from './meta.ts';
import { resource } from './resource.ts';

export interface IssuerRef {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
}

export interface CertManagerCertificate extends KubeObject {
  spec: {
    secretName: string;
    dnsNames: readonly string[];
    /** In Go's spelling; cert-manager takes 90 days where it is absent. */
    duration?: string;
    renewBefore?: string;
    usages: readonly string[];
    privateKey: { algorithm: string; size: number; encoding: string; rotationPolicy: string };
    secretTemplate?: { labels?: Record<string, string> };
    issuerRef: IssuerRef;
  };
  status?: { conditions?: Condition[]; failedIssuanceAttempts?: number };
}

/** Issuer and ClusterIssuer. */
export interface Issuer extends KubeObject {
  status?: { conditions?: Condition[] };
}

const apiVersion = 'cert-manager.io/v1';

export const certificates = resource<CertManagerCertificate>(
  apiVersion,
  'Certificate',
  'certificates',
  'Namespaced',
);
export const issuers = resource<Issuer>(apiVersion, 'Issuer', 'issuers', 'Namespaced');
export const clusterIssuers = resource<Issuer>(
  apiVersion,
  'ClusterIssuer',
  'clusterissuers',
  'Cluster',
);
