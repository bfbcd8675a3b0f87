/** What can be known of a call's parts without proving anything, and without loading what proves it. */

/** The audience that a machine's identity is asked for: a token for one machine is worth nothing for another. */
export function audienceOf(claimUid: string): string {
  return `unikraft://nodeclaim/${claimUid}`;
}

/** The `kid` that a token says it is signed with; undefined for what is no token. */
export function keyIdOf(token: string): string | undefined {
  const { kid } = partOf(token, 0);
  return typeof kid === 'string' ? kid : undefined;
}

/** When a token says that it is over; milliseconds since 1970, 0 for what is no token. */
export function endOfToken(token: string): number {
  const { exp } = partOf(token, 1);
  return typeof exp === 'number' ? exp * 1000 : 0;
}

function partOf(token: string, index: number): Readonly<Record<string, unknown>> {
  try {
    const text = Buffer.from(token.split('.')[index] ?? '', 'base64url').toString('utf8');
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
