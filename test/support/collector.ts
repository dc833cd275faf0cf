import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { awaited } from './until.ts';
import { exportedSpans, type ExportedSpan } from './exported-spans.ts';

/** A batch of spans as received. */
export interface Export {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A real server that receives spans by OTLP over HTTP. It can also refuse them or never answer. */
export class Collector {
  readonly url: string;
  readonly exports: Export[] = [];
  readonly spans: ExportedSpan[] = [];
  /** How it answers; by default it takes what it gets. */
  answer: (response: ServerResponse) => void = accept;
  private readonly waiters = new Set<() => void>();
  private readonly server;

  private constructor(server: ReturnType<typeof createServer>) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => {
        const { url: path = '', headers } = request;
        const sent = Buffer.concat(chunks);
        const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
        this.exports.push({ path, headers, body });
        this.spans.push(...exportedSpans(body));
        this.answer(response);
        for (const look of this.waiters) look();
      });
    });
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server);
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

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close().closeAllConnections();
    await closed;
  }

  private when<Value>(what: string, look: () => Value | undefined): Promise<Value> {
    const there = new Promise<Value>((resolve) => {
      const check = (): void => {
        const value = look();
        if (value === undefined) return;
        this.waiters.delete(check);
        resolve(value);
      };
      this.waiters.add(check);
      check();
    });
    return awaited(() => `${what}, after ${this.spans.map(({ name }) => name).join(', ')}`, there);
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
