import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';

import type { PlatformEndpoint } from '../machine.ts';

export interface HealthCheck {
  readonly name: string;
  readonly status: 'unknown' | 'healthy' | 'degraded';
}

/** The platform API on a machine. Failures to answer are MachineErrors with next `retry`; a 401 is `slow`. */
export interface PlatformApi {
  /** GET /v1/healthz; at least one check, for a platform that reports none has not said that it is healthy. */
  health(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<readonly HealthCheck[]>;
  /**
   * GET /v1/users/quotas: the hard quotas of the token's own user, which are what Kraftlet advertises. Whole numbers
   * above zero; storage may be zero.
   */
  quotas(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<PlatformQuotas>;
}
