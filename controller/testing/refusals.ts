/** The API server's refusals, for fakes and for tests that script them. */
import { ApiError } from '#kube/client/errors.ts';
import { keyText, type Resource } from '#schemas/kubernetes/resource.ts';

export const notFound = (resource: Resource, key: string): ApiError =>
  refusal(404, 'NotFound', `${resource.plural} "${key}" not found`);

export const alreadyExists = (resource: Resource, key: string): ApiError =>
  refusal(409, 'AlreadyExists', `${resource.plural} "${key}" already exists`);

export const conflict = (resource: Resource, name: string): ApiError =>
  refusal(
    409,
    'Conflict',
    `${resource.plural} "${keyText({ name })}": the object has been modified`,
  );

export const invalid = (field: string, message: string): ApiError =>
  refusal(422, 'Invalid', `${field}: ${message}`);

export const unavailable = (): ApiError =>
  refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request');

export function refusal(code: number, reason: string, message: string): ApiError {
  const status = { kind: 'Status', status: 'Failure', code, reason, message };
  return new ApiError({ verb: 'TEST', path: '/' }, { code }, status);
}
