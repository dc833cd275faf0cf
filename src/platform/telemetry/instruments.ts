import { Counter, type Metric, type Registry } from 'prom-client';

type Labels<Name extends string> = Record<Name, string>;

/** One series of a counter. */
export class CounterSeries {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** The latest recorded trace of a bucket, in the form that the registry writes in OpenMetrics. */
interface Exemplar {
  labelSet: { trace_id: string };
  value: number;
  /** In seconds since 1970. */
  timestamp: number;
}

/** One series of a histogram. */
export class HistogramSeries {
  sum = 0;
  count = 0;
  /** The count of each bucket alone, not the cumulative count of the exposition. */
  readonly counts: number[];
  /** By bucket; the last one is infinity. There are none without a recorded trace. */
  exemplars: (Exemplar | undefined)[] | undefined;
  private readonly bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  /** `traceId` is that of a recorded trace. */
  observe(value: number, traceId?: string): void {
    this.sum += value;
    this.count++;
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    if (i < bounds.length) counts[i] = (counts[i] as number) + 1;
    if (traceId === undefined) return;
    this.exemplars ??= [];
    this.exemplars[i] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1_000 };
  }
}

/** The series of one metric. Each is created when it is first used. */
class SeriesMap<Name extends string, Series> {
  private readonly byValues = new Map<string, { labels: Labels<Name>; series: Series }>();
  private readonly labelNames: readonly Name[];
  private readonly make: () => Series;

  constructor(labelNames: readonly Name[], make: () => Series) {
    this.labelNames = labelNames;
    this.make = make;
  }

  get(labels: Labels<Name>): Series {
    const key = JSON.stringify(this.labelNames.map((name) => labels[name]));
    let entry = this.byValues.get(key);
    if (!entry) this.byValues.set(key, (entry = { labels, series: this.make() }));
    return entry.series;
  }

  entries(): Iterable<{ labels: Labels<Name>; series: Series }> {
    return this.byValues.values();
  }
}

export interface InstrumentOptions<Name extends string> {
  name: string;
  help: string;
  labelNames: readonly Name[];
}

/**
 * A counter whose callers keep its series. The package's counter looks up the labels of each increment, which takes
 * 290 ns instead of 5 and would be noticeable in the time of a request.
 */
export class LabeledCounter<Name extends string> {
  private readonly map: SeriesMap<Name, CounterSeries>;

  constructor(registry: Registry, { name, help, labelNames }: InstrumentOptions<Name>) {
    const map = new SeriesMap(labelNames, () => new CounterSeries());
    this.map = map;
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, series } of map.entries()) this.inc(labels, series.value);
      },
    });
  }

  /** The series with these labels. From now on it is exported, even as 0. */
  series(labels: Labels<Name>): CounterSeries {
    return this.map.get(labels);
  }
}

/** The same for histograms, where an observation of the package takes 450 ns. */
export class LabeledHistogram<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  private readonly bounds: readonly number[];
  private readonly map: SeriesMap<Name, HistogramSeries>;

  /** `buckets` are the upper bounds in rising order, without infinity. */
  constructor(
    registry: Registry,
    { name, help, labelNames, buckets }: InstrumentOptions<Name> & { buckets: readonly number[] },
  ) {
    this.name = name;
    this.help = help;
    this.bounds = buckets;
    this.map = new SeriesMap(labelNames, () => new HistogramSeries(buckets));
    // The registry needs only the name and `get` of a metric, and the package has no way to set a histogram's
    // values.
    registry.registerMetric(this as unknown as Metric);
  }

  series(labels: Labels<Name>): HistogramSeries {
    return this.map.get(labels);
  }

  /** The values that the registry writes. */
  get(): Promise<object> {
    const values = [...this.map.entries()].flatMap(({ labels, series }) =>
      this.exported(labels, series),
    );
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values });
  }

  private exported(
    labels: Labels<Name>,
    { counts, count, sum, exemplars }: HistogramSeries,
  ): object[] {
    const metricName = `${this.name}_bucket`;
    let below = 0;
    const buckets = this.bounds.map((le, i) => {
      below += counts[i] as number;
      return { metricName, labels: { ...labels, le }, value: below, exemplar: exemplars?.[i] };
    });
    const exemplar = exemplars?.[this.bounds.length];
    return [
      ...buckets,
      { metricName, labels: { ...labels, le: '+Inf' }, value: count, exemplar },
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
