/**
 * Whether a call failed for want of a connection or of any answer, by the codes of sockets, of name resolution and of
 * Node's own HTTP clients. Libraries wrap what they met.
 */
export function isConnectionTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, name, cause } = error as { code?: unknown; name: string; cause?: unknown };
  if (name === 'TimeoutError') return true;
  return pattern.test(String(code)) || (cause !== error && isConnectionTrouble(cause));
}

const pattern = /^(E(CONN|AI_|HOST|NET|NOTFOUND|TIMEDOUT|PIPE)|UND_ERR)/;
