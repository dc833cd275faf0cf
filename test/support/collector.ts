import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { Changes } from './changes.ts';
import { exportedSpans, type ExportedSpan } from './exported-spans.ts';
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts';
import { awaited } from './until.ts';

/** A batch of spans as received. */
export interface Export {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A real server that receives spans by OTLP over HTTP. It can also refuse them or never answer. */
export class Collector {
  readonly exports: Export[] = [];
  readonly spans: ExportedSpan[] = [];
  /** How it answers; by default it takes what it gets. */
  answer: (response: ServerResponse) => void = accept;
  readonly url: string;
  /** Ends it, and every connection to it. */
  readonly stop: () => Promise<void>;
  private readonly changes = new Changes();

  private constructor({ url, stop }: ScriptedUpstream) {
    this.url = url;
    this.stop = stop;
  }

  static async start(): Promise<Collector> {
    const server = await startScriptedUpstream((request, response, sent) => {
      collector.take(request, sent);
      collector.answer(response);
      collector.changes.tell();
    });
    const collector = new Collector(server);
    return collector;
  }

  /** What turns tracing on in a gateway, with batches that do not wait. */
  get environment(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_BSP_SCHEDULE_DELAY: '1' };
  }

  /** Resolves with the spans that match, once there are that many of them. */
  until(count: number, matches: (span: ExportedSpan) => boolean): Promise<ExportedSpan[]> {
    return this.when(`${count} spans for which ${String(matches)}`, () => {
      const found = this.spans.filter(matches);
      return found.length >= count ? found : undefined;
    });
  }

  /** Resolves with the spans of the request with this id, once its server span and all below it are there. */
  async ofRequest(requestId: string, calls: number): Promise<RequestSpans> {
    const [server] = await this.until(
      1,
      ({ attributes }) => attributes['gateway.request.id'] === requestId,
    );
    if (!server) throw new Error('there is no server span');
    const clients = await this.until(calls, ({ parentSpanId }) => parentSpanId === server.spanId);
    clients.sort((a, b) => Number(a.startNs - b.startNs));
    return { server, clients };
  }

  /** Resolves once so many batches have come. */
  untilExports(count: number): Promise<Export[]> {
    const all = (): Export[] | undefined =>
      this.exports.length >= count ? this.exports : undefined;
    return this.when(`${count} batches of spans`, all);
  }

  private take({ url: path = '', headers }: IncomingMessage, sent: Buffer): void {
    const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    this.exports.push({ path, headers, body });
    this.spans.push(...exportedSpans(body));
  }

  private when<Value>(what: string, find: () => Value | undefined): Promise<Value> {
    const text = () => `${what}, after ${this.spans.map(({ name }) => name).join(', ')}`;
    return awaited(text, this.changes.found(find));
  }
}

export interface RequestSpans {
  server: ExportedSpan;
  /** In the order of their begin. */
  clients: ExportedSpan[];
}

function accept(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
}
