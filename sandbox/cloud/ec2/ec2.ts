import type { Clock } from '#schemas/time/clock.ts';

import type { CloudError, Exchange, Protocol } from '../wire/service.ts';
import { CloudError as Refusal, WireService } from '../wire/service.ts';
import { xmlDocument } from '../wire/xml.ts';
import { type Account, defaultAccount, elsewhere, home } from './account.ts';
import type { Ec2Instance, Ec2Timings } from './instance.ts';
import { type Hardware, Instances } from './instances.ts';
import { Parameters } from './parameters.ts';
import { loadRegion, otherRegion } from './region.ts';
import { RegionalCalls } from './regional-calls.ts';

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';

/**
 * EC2 on a loopback port, good enough for the real SDK: the calls that a provider of machines needs, with EC2's
 * own answers, errors, tokens, filters, pages and lags. Everything is in one account, whose two regions share the port
 * and nothing else: a call is for the region that it was signed for.
 */
export class Ec2 extends WireService<Parameters> {
  /** What the region at home has. */
  readonly account: Account;
  readonly instances: Instances;
  readonly regions: readonly Ec2Region[];

  constructor(options: { clock: Clock; timings: Ec2Timings; hardware: Hardware }) {
    const { clock, timings, hardware } = options;
    const withInstances = (account: Account): Ec2Region => ({
      account,
      instances: new Instances(clock, timings, hardware),
    });
    const region = loadRegion();
    const own = withInstances(defaultAccount(region, home));
    const regions = [own, withInstances(defaultAccount(otherRegion(region), elsewhere))];
    super(new Ec2Protocol(regions), clock);
    this.account = own.account;
    this.instances = own.instances;
    this.regions = regions;
  }

  /** Instances of all regions. */
  get everywhere(): readonly Ec2Instance[] {
    return this.regions.flatMap(({ instances }) => instances.all);
  }
}

/** What there is in one region. */
export interface Ec2Region {
  readonly account: Account;
  readonly instances: Instances;
}

/** Sorts calls to the regions that they were signed for, and puts answers and refusals into EC2's XML. */
class Ec2Protocol implements Protocol<Parameters> {
  readonly #regions: ReadonlyMap<string, RegionalCalls>;
  readonly #known: ReadonlySet<string>;

  constructor(regions: readonly Ec2Region[]) {
    const calls = regions.map(({ account, instances }) => new RegionalCalls(account, instances));
    this.#regions = new Map(calls.map((one) => [one.region, one]));
    this.#known = new Set(calls.flatMap(({ actions }) => Object.keys(actions)));
  }

  read({ body }: Exchange): { action: string; parameters: Parameters } {
    const parameters = Parameters.ofForm(body);
    const action = parameters.required('Action');
    if (this.#known.has(action)) return { action, parameters };
    throw new Refusal('InvalidAction', `The action ${action} is not valid for this web service.`);
  }

  /** Throws AuthFailure for a region that the account has not. */
  act(action: string, parameters: Parameters, requestId: string, region: string): string {
    const calls = this.#regions.get(region);
    if (!calls) {
      const message = 'AWS was not able to validate the provided access credentials';
      throw new Refusal('AuthFailure', message, 401);
    }
    const tree = calls.actions[action]!(parameters);
    return xmlDocument(`${action}Response`, { requestId, ...tree }, namespace);
  }

  refuse({ code, message }: CloudError, requestId: string): string {
    const error = { Errors: { Error: { Code: code, Message: message } }, RequestID: requestId };
    return xmlDocument('Response', error, namespace);
  }
}
