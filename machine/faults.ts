import type { Code } from '#schemas/errors/codes.ts';

import type { NodeClassPart } from './errors.ts';

interface Fault {
  readonly code: Code;
  readonly condition: NodeClassPart;
  readonly reason: string;
}

const fault = (code: Code, condition: NodeClassPart, reason: string): Fault => ({
  code,
  condition,
  reason,
});

/** What can be wrong with a node class as this room finds it; the codes are told in schemas/errors/codes.ts. */
export const faults = {
  namesInvalid: fault('KPU270', 'ValidationSucceeded', 'NamesInvalid'),
  credentials: fault('KPU210', 'CredentialsReady', 'CredentialsRefused'),
  insecureEndpoint: fault('KPU210', 'CredentialsReady', 'InsecureEndpoint'),
  imageNotFound: fault('KPU220', 'ImageReady', 'ImageNotFound'),
  imageAmbiguous: fault('KPU221', 'ImageReady', 'ImageArchitectureAmbiguous'),
  imageUnusable: fault('KPU222', 'ImageReady', 'ImageUnusable'),
  subnetsNotFound: fault('KPU230', 'PlacementReady', 'SubnetsNotFound'),
  securityGroupsNotFound: fault('KPU231', 'PlacementReady', 'SecurityGroupsNotFound'),
  severalNetworks: fault('KPU232', 'PlacementReady', 'SeveralNetworks'),
  placementRefused: fault('KPU232', 'PlacementReady', 'PlacementRefused'),
  zoneNotFound: fault('KPU240', 'DNSReady', 'ZoneNotFound'),
  zoneForbidden: fault('KPU241', 'DNSReady', 'ZoneForbidden'),
  zoneAmbiguous: fault('KPU242', 'DNSReady', 'ZoneAmbiguous'),
  chartUnavailable: fault('KPU260', 'KraftletReady', 'ChartUnavailable'),
  chartRefused: fault('KPU261', 'KraftletReady', 'ChartRefused'),
  chartBroken: fault('KPU262', 'KraftletReady', 'ChartDoesNotRender'),
} as const satisfies Record<string, Fault>;
