import type { Code } from '#schemas/errors/codes.ts';

import type { NodeClassPart } from './errors.ts';

/** One thing that can be wrong with a node class. */
export interface Fault {
  readonly code: Code;
  readonly condition: NodeClassPart;
  readonly reason: string;
  /**
   * What is missing can come while the spec stays as it is: a Secret, a permission. Deployment tools are then told to
   * go on waiting; for all else only another spec helps, and they may give up at once.
   */
  readonly canPass?: true;
}

const fault = (code: Code, condition: NodeClassPart, reason: string): Fault => ({
  code,
  condition,
  reason,
});
const passing = (code: Code, condition: NodeClassPart, reason: string): Fault => ({
  ...fault(code, condition, reason),
  canPass: true,
});

/**
 * What can be wrong with a node class, save its Secrets; the codes are told in schemas/errors/codes.ts.
 *
 * An image, a subnet or a zone that is not found is most often a mistake in the spec, so these do not pass, though
 * they are looked for again all the same. Whether a chart is misspelt or its registry is away, nobody can tell.
 */
export const faults = {
  namesInvalid: fault('KPU270', 'ValidationSucceeded', 'NamesInvalid'),
  credentials: passing('KPU210', 'CredentialsReady', 'CredentialsRefused'),
  launchForbidden: passing('KPU212', 'CredentialsReady', 'LaunchForbidden'),
  insecureEndpoint: passing('KPU210', 'CredentialsReady', 'InsecureEndpoint'),
  permissionsMissing: passing('KPU216', 'CredentialsReady', 'PermissionsMissing'),
  roleRefused: passing('KPU214', 'CredentialsReady', 'RoleRefused'),
  imageParameter: fault('KPU213', 'ImageReady', 'ImageParameterUnusable'),
  imageNotFound: fault('KPU220', 'ImageReady', 'ImageNotFound'),
  imageAmbiguous: fault('KPU221', 'ImageReady', 'ImageArchitectureAmbiguous'),
  imageUnusable: fault('KPU222', 'ImageReady', 'ImageUnusable'),
  subnetsNotFound: fault('KPU230', 'PlacementReady', 'SubnetsNotFound'),
  securityGroupsNotFound: fault('KPU231', 'PlacementReady', 'SecurityGroupsNotFound'),
  severalNetworks: fault('KPU232', 'PlacementReady', 'SeveralNetworks'),
  placementRefused: fault('KPU232', 'PlacementReady', 'PlacementRefused'),
  zoneNotFound: fault('KPU240', 'DNSReady', 'ZoneNotFound'),
  zoneForbidden: passing('KPU241', 'DNSReady', 'ZoneForbidden'),
  zoneAmbiguous: fault('KPU242', 'DNSReady', 'ZoneAmbiguous'),
  endpointsUnknown: passing('KPU372', 'DNSReady', 'DNSEndpointsNotServed'),
  endpointsRefused: passing('KPU373', 'DNSReady', 'DNSEndpointsRefused'),
  chartUnavailable: passing('KPU260', 'KraftletReady', 'ChartUnavailable'),
  chartRefused: fault('KPU261', 'KraftletReady', 'ChartRefused'),
  chartBroken: fault('KPU262', 'KraftletReady', 'ChartDoesNotRender'),
  namespaceRefused: fault('KPU263', 'KraftletReady', 'NamespaceRefused'),
  variableRefused: fault('KPU264', 'KraftletReady', 'VariableRefused'),
} as const satisfies Record<string, Fault>;
