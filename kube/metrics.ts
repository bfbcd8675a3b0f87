/**
 * The numbers that a process shows at `/metrics`, in one registry that is handed in, never global: two managers in one
 * process, as in tests, do not count each other's work.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

type Labels = Readonly<Record<string, string>>;
type AnyMetric = Counter<string> | Gauge<string> | Histogram<string>;

interface Reading {
  readonly labels: Labels;
  readonly read: () => number;
}

/**
 * Makes metrics by name. Asking twice for a name gives the same metric, so that whoever needs one asks for it where it
 * is used.
 *
 * @example metrics.counter('kube_informer_relists_total', 'Full states read.', ['resource']).inc({ resource: 'pods' })
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #readings = new Map<string, Set<Reading>>();
  readonly #beforeRead = new Set<() => void>();

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter<string> {
    return this.#once<Counter<string>>(
      name,
      Counter,
      () =>
        new Counter<string>({
          name,
          help,
          labelNames: [...labelNames],
          registers: [this.#registry],
        }),
    );
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge<string> {
    return this.#once<Gauge<string>>(
      name,
      Gauge,
      () =>
        new Gauge<string>({ name, help, labelNames: [...labelNames], registers: [this.#registry] }),
    );
  }

  /** @param buckets upper bounds, ascending, in the unit of the metric; Prometheus asks for seconds */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    buckets: readonly number[] = durationBuckets,
  ): Histogram<string> {
    return this.#once<Histogram<string>>(
      name,
      Histogram,
      () =>
        new Histogram<string>({
          name,
          help,
          labelNames: [...labelNames],
          buckets: [...buckets],
          registers: [this.#registry],
        }),
    );
  }

  /**
   * A gauge that is read only when somebody looks: sizes and ages, which would cost a write per change.
   *
   * @returns takes this reading out again
   */
  sample(name: string, help: string, labels: Labels, read: () => number): () => void {
    const readings = this.#readings.get(name) ?? this.#sampled(name, help, Object.keys(labels));
    const reading = { labels, read };
    readings.add(reading);
    return () => readings.delete(reading);
  }

  /** CPU, memory and event-loop numbers of this process. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Called before anybody reads: whoever counts some things later counts them now. */
  beforeRead(action: () => void): void {
    this.#beforeRead.add(action);
  }

  /** The body of `/metrics`. */
  async text(): Promise<string> {
    for (const action of this.#beforeRead) action();
    return this.#registry.metrics();
  }

  /** The Content-Type that goes with {@link Metrics.text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  #sampled(name: string, help: string, labelNames: string[]): Set<Reading> {
    const readings = new Set<Reading>();
    this.#readings.set(name, readings);
    const gauge: Gauge<string> = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        gauge.reset();
        for (const { labels, read } of readings) gauge.set({ ...labels }, read());
      },
    });
    return readings;
  }

  #once<M extends AnyMetric>(
    name: string,
    kind: new (configuration: never) => M,
    make: () => M,
  ): M {
    const known: unknown = this.#registry.getSingleMetric<string>(name);
    if (known === undefined) return make();
    if (known instanceof kind) return known;
    throw new TypeError(`metric ${name} already exists and is no ${kind.name}`);
  }
}

/** Seconds from a cached read to a launch that nearly missed its deadline, each about 2.5 times the one before. */
export const durationBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 150, 300, 600,
];
