import type { CloudError } from '../wire/service.ts';

/** Names of the newer error model by HTTP status. Source: google.rpc.Code. */
const names: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** A refusal in both of the forms that Google's APIs give: the classic list of reasons, and the newer status. */
export function googleRefusal({ code, message, status }: CloudError): string {
  return JSON.stringify({
    error: {
      code: status,
      message,
      errors: [{ message, domain: 'global', reason: code }],
      status: names[status] ?? 'UNKNOWN',
    },
  });
}
