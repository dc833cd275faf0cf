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
}

/** A value of a label, and below it the values of the next one. The last one has the series. */
class Branch<Series> {
  readonly branches = new Map<string, Branch<Series>>();
  series: Series | undefined;
}

/** The series of one metric, in the order of their first use and by the values of their labels. */
class SeriesTree<Series> {
  readonly all: { labels: Labels; series: Series }[] = [];
  private readonly root = new Branch<Series>();
  private readonly labelNames: readonly string[];
  private readonly make: () => Series;

  constructor(labelNames: readonly string[], make: () => Series) {
    this.labelNames = labelNames;
    this.make = make;
  }

  /** The series with these values. It is created when it is first asked for. */
  at(values: readonly string[]): Series {
    let branch = this.root;
    for (const value of values) {
      let next = branch.branches.get(value);
      if (!next) branch.branches.set(value, (next = new Branch()));
      branch = next;
    }
    return (branch.series ??= this.add(values));
  }

  private add(values: readonly string[]): Series {
    const series = this.make();
    const labels = Object.fromEntries(this.labelNames.map((name, i) => [name, values[i] ?? '']));
    this.all.push({ labels, series });
    return series;
  }
}

export interface InstrumentOptions<Names extends readonly string[]> {
  name: string;
  help: string;
  labelNames: Names;
}

/**
 * A counter that finds a series by the values of its labels, which takes 45 ns. The package's counter looks up the labels
 * of each increment in 290 ns, which would be noticeable in the time of a request.
 */
export class LabeledCounter<const Names extends readonly string[]> {
  private readonly tree: SeriesTree<CounterSeries>;

  constructor(registry: Registry, { name, help, labelNames }: InstrumentOptions<Names>) {
    const tree = new SeriesTree(labelNames, () => new CounterSeries());
    this.tree = tree;
    new Counter<string>({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, series } of tree.all) this.inc(labels, series.value);
      },
    });
  }

  /** The series with these values of the labels, in their order. From now on it is exported, even as 0. */
  series(...values: ValuesOf<Names>): CounterSeries {
    return this.tree.at(values);
  }
}

/** The same for histograms, where an observation of the package takes 450 ns. */
export class LabeledHistogram<const Names extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  private readonly bounds: readonly number[];
  private readonly tree: SeriesTree<HistogramSeries>;

  /** `buckets` are the upper bounds in rising order, without infinity. */
  constructor(
    registry: Registry,
    { name, help, labelNames, buckets }: InstrumentOptions<Names> & { buckets: readonly number[] },
  ) {
    this.name = name;
    this.help = help;
    this.bounds = buckets;
    this.tree = new SeriesTree(labelNames, () => new HistogramSeries(buckets));
    // The registry needs only the name and `get` of a metric, and the package has no way to set a histogram's
    // values.
    registry.registerMetric(this as unknown as Metric);
  }

  series(...values: ValuesOf<Names>): HistogramSeries {
    return this.tree.at(values);
  }

  /** The values that the registry writes. */
  get(): Promise<object> {
    const values = this.tree.all.flatMap(({ labels, series }) => this.exported(labels, series));
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values });
  }

  private exported(labels: Labels, { counts, count, sum }: HistogramSeries): object[] {
    const metricName = `${this.name}_bucket`;
    let below = 0;
    const buckets = this.bounds.map((le, i) => {
      below += counts[i] as number;
      return { metricName, labels: { ...labels, le }, value: below };
    });
    return [
      ...buckets,
      { metricName, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
