/** Who is called: the API server, or one API of a cloud. */
export type Service = 'kubernetes' | 'ec2' | 'route53' | 'gce' | 'clouddns';

/** A request of the controller, read whole. */
export interface Exchange {
  readonly service: Service;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string;
}

/** What a call does to the world. */
export interface Deed {
  /** In words, without the names of machines: the same for each machine that gets as far. */
  readonly name: string;
  /** It changes something; else it is a read. */
  readonly changes: boolean;
  /**
   * Why it is no machine's own: others' calls wait for its answer (`turn`), go in the same call (`call`), or are made
   * by the same plan, which is made again as a whole (`plan`).
   */
  readonly shared?: 'turn' | 'call' | 'plan' | undefined;
}
