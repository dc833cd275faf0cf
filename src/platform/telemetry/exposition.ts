import { Registry, type Metric, type OpenMetricsContentType } from 'prom-client';

const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const OPENMETRICS = /^application\/openmetrics-text\b/i;
const PLAIN_TEXT = /^(?:text\/plain|text\/\*|\*\/\*)(?:;|$)/i;

export interface Exposition {
  contentType: string;
  body: string;
}

/**
 * All metrics of a registry: as OpenMetrics if the client prefers that, and else as Prometheus' text format 0.0.4,
 * whatever the client accepts. A format that was not requested is better than no metrics.
 */
export async function expose(registry: Registry, accept: string | undefined): Promise<Exposition> {
  return prefersOpenMetrics(accept)
    ? { contentType: OPENMETRICS_TYPE, body: toOpenMetrics(await withExemplars(registry)) }
    : { contentType: TEXT_TYPE, body: await registry.metrics() };
}

/** All metrics. Another registry writes the histograms, with their exemplars, which only OpenMetrics has. */
async function withExemplars(registry: Registry): Promise<string> {
  const histograms = new Registry<OpenMetricsContentType>();
  histograms.setContentType(OPENMETRICS_TYPE);
  const texts = registry.getMetricsAsArray().map((metric) => {
    if (!isHistogram(metric)) return registry.getSingleMetricAsString(metric.name);
    histograms.registerMetric(metric);
    return histograms.getSingleMetricAsString(metric.name);
  });
  return (await Promise.all(texts)).join('\n');
}

/** The package declares its types of metrics as numbers, and they are names. */
function isHistogram(metric: object): metric is Metric {
  return (metric as { type?: unknown }).type === 'histogram';
}

/** Content negotiation (RFC 9110 §12.5.1), as far as two formats need it. */
function prefersOpenMetrics(accept = ''): boolean {
  let openMetrics = 0;
  let plainText = 0;
  for (const range of accept.split(',').map((part) => part.trim())) {
    const quality = qualityOf(range);
    if (OPENMETRICS.test(range)) openMetrics = Math.max(openMetrics, quality);
    else if (PLAIN_TEXT.test(range)) plainText = Math.max(plainText, quality);
  }
  return openMetrics > 0 && openMetrics >= plainText;
}

function qualityOf(range: string): number {
  const quality = /;\s*q=([\d.]+)/i.exec(range)?.[1];
  return quality === undefined ? 1 : Number(quality) || 0;
}

/**
 * OpenMetrics names the family of a counter without the `_total` of its samples, has no empty lines and ends with a
 * mark. The registry's own switch is not used: it renames the metrics for good, which breaks the other format.
 */
function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const counters = new Set(
    lines.flatMap((line) => /^# TYPE (\w+)_total counter$/.exec(line)?.[1] ?? []),
  );
  const families = lines.map((line) =>
    line.replace(/^(# (?:HELP|TYPE) )(\w+)_total /, (whole, start: string, name: string) =>
      counters.has(name) ? `${start}${name} ` : whole,
    ),
  );
  return [...families, '# EOF', ''].join('\n');
}
