import type { Exchange } from '../wire/service.ts';

/** What programs on Google's own machines ask for their identity. */
export const tokenAnswer = {
  action: 'metadata.token',
  token: 'sandbox-token',
  body: { access_token: 'sandbox-token', expires_in: 3600, token_type: 'Bearer' },
} as const;

export function isMetadata({ url }: Exchange): boolean {
  return url.pathname.startsWith('/computeMetadata/v1/');
}
