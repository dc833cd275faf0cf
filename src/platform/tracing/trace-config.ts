export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Where spans are sent, which ones are made, and how they are batched. Times are milliseconds. */
export interface TraceConfig {
  /** The whole URL to which spans are posted. */
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  compression: 'none' | 'gzip';
  /** PEM. Undefined if Node's own certificates are used or no client certificate is needed. */
  tls: { ca: string | undefined; cert: string | undefined; key: string | undefined };
  serviceName: string | undefined;
  resourceAttributes: Record<string, string>;
  sampler: (typeof SAMPLERS)[number];
  /** The share of new traces that the ratio samplers record, from 0 to 1. */
  samplerRatio: number;
  batch: {
    delayMs: number;
    exportTimeoutMs: number;
    /** The most spans that wait to be sent. Further ones are dropped. */
    maxQueueSize: number;
    maxExportBatchSize: number;
  };
}
