import type { SpanContext } from '@opentelemetry/api';

/** Beyond it the stream that was appended to longest ago is forgotten. */
const MAX_STREAMS = 1_000;
/** The appends that are remembered of one stream, the latest ones. */
const MAX_APPENDS = 8;
/** The appends to a stream with a longer path are not remembered. */
const MAX_PATH_LENGTH = 512;

interface Append {
  context: SpanContext;
  /** Milliseconds of `performance.now()`, or undefined while it is in progress. */
  endedAtMs: number | undefined;
}

/**
 * The recorded appends of late, by the path of their stream. A live read links to those that happened while it was open,
 * because the store keeps no trace with an event. So an append through another copy is not linked.
 */
export class AppendSpans {
  private readonly byPath = new Map<string, Append[]>();

  began(path: string, context: SpanContext): void {
    if (path.length > MAX_PATH_LENGTH) return;
    const appends = this.byPath.get(path) ?? [];
    appends.push({ context, endedAtMs: undefined });
    if (appends.length > MAX_APPENDS) appends.shift();
    // A map has its entries in the order in which they were set.
    this.byPath.delete(path);
    this.byPath.set(path, appends);
    if (this.byPath.size <= MAX_STREAMS) return;
    for (const oldest of this.byPath.keys()) {
      this.byPath.delete(oldest);
      break;
    }
  }

  /** One that failed, or that the store refused, is forgotten. */
  ended(path: string, { spanId }: SpanContext, isStored: boolean): void {
    const appends = this.byPath.get(path) ?? [];
    const index = appends.findIndex(({ context }) => context.spanId === spanId);
    const append = appends[index];
    if (!append) return;
    if (isStored) append.endedAtMs = performance.now();
    else appends.splice(index, 1);
  }

  /** The appends that were in progress at this time or later, the oldest first. */
  since(path: string, atMs: number): SpanContext[] {
    const appends = this.byPath.get(path) ?? [];
    return appends
      .filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs >= atMs)
      .map(({ context }) => context);
  }
}
