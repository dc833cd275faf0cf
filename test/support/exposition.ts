export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'unknown';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: MetricType;
  help: string;
  samples: Sample[];
}

/** The suffixes that sample names of each type may have. */
const SUFFIXES: Record<MetricType, readonly string[]> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
  unknown: [''],
};
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y;

/**
 * Reads metrics in Prometheus' text format 0.0.4. Throws at whatever a strict
 * reader, or `promtool check metrics`, would find fault with.
 */
export function parseExposition(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const lines = text.slice(0, -1).split('\n');
  const families: Family[] = [];
  let help: { name: string; text: string } | undefined;
  for (const line of lines) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment?.[1] === 'HELP') help = { name: comment[2] ?? '', text: comment[3] ?? '' };
    else if (comment) families.push(familyOf(comment[2] ?? '', comment[3] ?? '', help));
    else addSample(families.at(-1), parseSample(line));
  }
  for (const family of families) checkFamily(family, families);
  return families;
}

/** The value of the sample with this name and exactly these labels, or undefined. */
export function sampleValue(
  families: readonly Family[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const key = sampleKey({ name, labels });
  const samples = families.flatMap((family) => family.samples);
  return samples.find((sample) => sampleKey(sample) === key)?.value;
}

function familyOf(
  name: string,
  type: string,
  help: { name: string; text: string } | undefined,
): Family {
  if (!(type in SUFFIXES)) throw new Error(`${name} has the unknown type ${type}`);
  if (help?.name !== name) throw new Error(`${name} has no help`);
  return { name, type: type as MetricType, help: help.text, samples: [] };
}

function parseSample(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (!match) throw new Error(`no sample: ${line}`);
  const [, name = '', labels = '', value = ''] = match;
  const number = value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : Number(value);
  if (Number.isNaN(number) && value !== 'NaN') throw new Error(`no number: ${line}`);
  return { name, labels: parseLabels(labels, line), value: number };
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    const match = LABEL.exec(text);
    if (!match) throw new Error(`no labels: ${line}`);
    const [, name = '', value = ''] = match;
    if (name in labels) throw new Error(`a label twice: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    at = LABEL.lastIndex;
  }
  return labels;
}

function addSample(family: Family | undefined, sample: Sample): void {
  const suffixes = family && SUFFIXES[family.type];
  if (!family || !suffixes?.some((suffix) => sample.name === family.name + suffix)) {
    throw new Error(`${sample.name} stands among the samples of ${family?.name}`);
  }
  family.samples.push(sample);
}

function checkFamily(family: Family, families: readonly Family[]): void {
  const { name, type, samples } = family;
  if (families.filter((other) => other.name === name).length > 1) throw new Error(`${name} twice`);
  const isNamedAsCounter = name.endsWith('_total');
  if (isNamedAsCounter !== (type === 'counter')) {
    throw new Error(`${name} is a ${type}, and not named as one`);
  }
  if (/_(?:milliseconds|ms|minutes|hours|kilobytes|mib|percent)(?:_|$)/.test(name)) {
    throw new Error(`${name} is not in a base unit`);
  }
  const keys = samples.map(sampleKey);
  if (new Set(keys).size !== keys.length) throw new Error(`${name} has a series twice`);
  for (const { value, name: sampleName } of samples) {
    const mayFall = type === 'gauge' || type === 'unknown';
    if (!mayFall && !(value >= 0)) throw new Error(`${sampleName} is ${value}`);
  }
  if (type === 'histogram') checkHistogram(family);
}

/** Checks that buckets rise, and that the last one is +Inf and equals the count. */
function checkHistogram({ name, samples }: Family): void {
  const series = Map.groupBy(samples, ({ labels }) =>
    sampleKey({ name, labels: { ...labels, le: '' } }),
  );
  for (const [key, ofSeries] of series) {
    const buckets = ofSeries.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) =>
      labels.le === '+Inf' ? Infinity : Number(labels.le),
    );
    const counts = buckets.map(({ value }) => value);
    const count = ofSeries.find((sample) => sample.name === `${name}_count`)?.value;
    const hasSum = ofSeries.some((sample) => sample.name === `${name}_sum`);
    if (!isRising(bounds) || !isRising(counts) || bounds.at(-1) !== Infinity) {
      throw new Error(`the buckets of ${key} do not rise to infinity`);
    }
    if (counts.at(-1) !== count || !hasSum) throw new Error(`${key} does not add up`);
  }
}

function isRising(values: readonly number[]): boolean {
  return values.every((value, i) => i === 0 || value >= (values[i - 1] ?? value));
}

function sampleKey({ name, labels }: Pick<Sample, 'name' | 'labels'>): string {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return name + JSON.stringify(entries);
}
