import { CloudError } from '../wire/service.ts';
import type { Ec2Instance } from './instance.ts';

/**
 * Client tokens of RunInstances. A token counts within its zone when the call names a subnet, so the same one in
 * another zone starts a second instance. Here a token is never forgotten; the real one keeps it for a day at least.
 *
 * Source: EC2 developer guide, "Ensuring idempotency".
 */
export class ClientTokens {
  readonly #used = new Map<string, { fingerprint: string; instances: readonly Ec2Instance[] }>();

  /**
   * What an earlier call with this token in this zone started; undefined for a new token.
   * Throws IdempotentParameterMismatch, or IdempotentInstanceTerminated when nothing of it is left.
   */
  earlier(token: string, zone: string, fingerprint: string): readonly Ec2Instance[] | undefined {
    const use = this.#used.get(`${zone} ${token}`);
    if (!use) return undefined;
    if (use.fingerprint !== fingerprint) {
      const differs =
        'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).';
      throw new CloudError('IdempotentParameterMismatch', differs);
    }
    if (use.instances.every(({ state }) => state === 'terminated')) {
      const ended = 'The client token was used for an instance that has been terminated.';
      throw new CloudError('IdempotentInstanceTerminated', ended);
    }
    return use.instances;
  }

  keep(token: string, zone: string, fingerprint: string, instances: readonly Ec2Instance[]): void {
    this.#used.set(`${zone} ${token}`, { fingerprint, instances });
  }
}
