import { Counter, type Metric, type Registry } from 'prom-client';

type Labels = Record<string, string>;

/** A value for each label. */
type ValuesOf<Names extends readonly string[]> = { [Index in keyof Names]: string };

/** One series of a counter. */
export class CounterSeries {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** One series of a histogram. */
export class HistogramSeries {
  sum = 0;
  count = 0;
  /** The count of each bucket alone, not the cumulative count of the exposition. */
  readonly counts: number[];
  private readonly bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    if (i < bounds.length) counts[i] = (counts[i] as number) + 1;
  }

  /** What the registry writes of it. */
  values(name: string, labels: Labels): object[] {
    const { bounds, counts, count, sum } = this;
    const metricName = `${name}_bucket`;
    let below = 0;
    const buckets = bounds.map((le, i) => {
      below += counts[i] as number;
      return { metricName, labels: { ...labels, le }, value: below };
    });
    return [
      ...buckets,
      { metricName, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

export interface InstrumentOptions<Names extends readonly string[]> {
  name: string;
  help: string;
  labelNames: Names;
}

/** The series of one metric, in the order of their first use. */
class Labeled<Names extends readonly string[], Series> {
  protected readonly exported: { labels: Labels; series: Series }[] = [];
  private readonly byValues = new Map<string, Series>();
  private readonly labelNames: Names;
  private readonly make: () => Series;

  constructor(labelNames: Names, make: () => Series) {
    this.labelNames = labelNames;
    this.make = make;
  }

  /** The series with these values of the labels, in their order. From now on it is exported, even as 0. */
  series(...values: ValuesOf<Names>): Series {
    const key = values.join('\0');
    let series = this.byValues.get(key);
    if (series === undefined) {
      series = this.make();
      this.byValues.set(key, series);
      const labels = Object.fromEntries(this.labelNames.map((name, i) => [name, values[i] ?? '']));
      this.exported.push({ labels, series });
    }
    return series;
  }
}

/**
 * A counter that finds a series by the values of its labels, which takes 130 ns. The package's counter looks up the labels
 * of each increment in 290 ns, which would be noticeable in the time of a request.
 */
export class LabeledCounter<const Names extends readonly string[]> extends Labeled<
  Names,
  CounterSeries
> {
  constructor(registry: Registry, { name, help, labelNames }: InstrumentOptions<Names>) {
    super(labelNames, () => new CounterSeries());
    const { exported } = this;
    new Counter<string>({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, series } of exported) this.inc(labels, series.value);
      },
    });
  }
}

/** The same for histograms, where an observation of the package takes 450 ns. */
export class LabeledHistogram<const Names extends readonly string[]> extends Labeled<
  Names,
  HistogramSeries
> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';

  /** `buckets` are the upper bounds in rising order, without infinity. */
  constructor(
    registry: Registry,
    { name, help, labelNames, buckets }: InstrumentOptions<Names> & { buckets: readonly number[] },
  ) {
    super(labelNames, () => new HistogramSeries(buckets));
    this.name = name;
    this.help = help;
    // The registry needs only the name and `get` of a metric, and the package has no way to set a histogram's
    // values.
    registry.registerMetric(this as unknown as Metric);
  }

  /** The values that the registry writes. */
  get(): Promise<object> {
    const { name, help, type, aggregator, exported } = this;
    const values = exported.flatMap(({ labels, series }) => series.values(name, labels));
    return Promise.resolve({ name, help, type, aggregator, values });
  }
}
