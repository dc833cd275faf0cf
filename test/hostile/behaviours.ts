import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { answerHeader, EVENTS, patternBytes, patternUnit, type PatternKind } from './pattern.ts';
import type { AnswerPlan } from './plan.ts';
import type { UpstreamRequest } from './recording-upstream.ts';

const DRIP_PIECES = 12;
const DRIP_INTERVAL_MS = 20;
const HUGE_HEADER_BYTES = 20_000;
const GARBAGE = 'SSH-2.0-OpenSSH_9.9\r\n\0\xff\r\n\r\n';

/** Treats a request as the plan says. */
export function behave(request: UpstreamRequest, id: string, plan: AnswerPlan): void {
  const answering = new Answering(request, id, plan);
  // These answer before the body is there; every other waits for all of it.
  if (plan.behaviour.startsWith('early')) answering.play();
  else if (request.isWhole) answering.play();
  else request.onWhole = () => answering.play();
}

class Answering {
  private readonly request: UpstreamRequest;
  private readonly id: string;
  private readonly plan: AnswerPlan;
  private readonly kind: PatternKind;
  private readonly bytes: number;

  constructor(request: UpstreamRequest, id: string, plan: AnswerPlan) {
    this.request = request;
    this.id = id;
    this.plan = plan;
    const isCommand = request.target.startsWith('/ingress');
    this.kind = isCommand ? 'command' : plan.behaviour.includes('events') ? 'events' : 'text';
    const unitBytes = patternUnit(id, this.kind).length;
    // Events come whole; what the runtime accepts is one object.
    this.bytes = isCommand
      ? unitBytes
      : plan.behaviour === 'events'
        ? unitBytes * (1 + (plan.bytes % 500))
        : plan.bytes;
  }

  /** A switch over all there is, so that none is forgotten. */
  play(): void {
    const { socket } = this.request;
    if (socket.destroyed) return;
    const { length } = this;
    switch (this.plan.behaviour) {
      case 'length':
      case 'early':
        return this.send(this.head(length) + this.body());
      case 'chunked':
      case 'events':
        return this.send(this.head('Transfer-Encoding: chunked') + this.chunk() + '0\r\n\r\n');
      case 'until-close':
        this.send(this.head('Connection: close') + this.body());
        return void socket.end();
      case 'drip':
        return this.drip();
      case 'interim':
        return this.send(
          `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${this.head(length)}${this.body()}`,
        );
      case 'large':
        this.write(this.head(length));
        return this.stream(0, this.bytes, () => (this.request.isAnswered = true));
      case 'no-content':
        return this.send(this.head('X-Empty: yes', '204 No Content'));
      case 'not-modified':
        return this.send(this.head('ETag: "x"', '304 Not Modified'));
      case 'double':
        // In one piece: a second answer that came later would be taken for that of the next request, by anybody.
        return this.send(this.small() + 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<another>');
      case 'surplus':
        return this.send(this.small() + '<surplus>'.repeat(9));
      case 'reset-after':
      case 'early-reset':
        this.write(this.head(length) + this.body());
        return resetConnection(socket);
      case 'cut-body':
        this.write(this.head(`Content-Length: ${this.bytes + 1}`) + this.body());
        return void socket.end();
      case 'reset-in-body':
        socket.write(this.head(`Content-Length: ${this.bytes + 1}`) + this.body(), 'latin1', () =>
          resetConnection(socket),
        );
        return;
      case 'cut-chunk':
        this.write(this.head('Transfer-Encoding: chunked') + this.chunk().slice(0, -3));
        return void socket.end();
      case 'bad-chunk':
        return this.write(this.head('Transfer-Encoding: chunked') + this.chunk() + 'zz\r\n');
      default:
        return this.playHopeless();
    }
  }

  private playHopeless(): void {
    const { socket } = this.request;
    switch (this.plan.behaviour) {
      case 'silent':
        return;
      case 'closed':
        return void socket.end();
      case 'cut-head':
        this.write(this.head(this.length).slice(0, 40));
        return void socket.end();
      case 'garbage':
        return this.write(GARBAGE);
      case 'both-lengths':
        return this.write(
          this.head(`${this.length}\r\nTransfer-Encoding: chunked`) + this.chunk() + '0\r\n\r\n',
        );
      case 'huge-head':
        return this.write(
          this.head(`${this.length}\r\nX-Huge: ${'x'.repeat(HUGE_HEADER_BYTES)}`) + this.body(),
        );
      case 'switching':
        return this.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
        );
      case 'unauthorized':
        return this.send(this.head(this.length, '401 Unauthorized') + this.body());
      case 'no-status':
        return this.write('HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n');
      case 'silent-body':
        return this.write(this.head(`Content-Length: ${this.bytes + 1}`) + this.body());
      case 'endless-events':
        this.write(this.head('X-Endless: yes'));
        return this.stream(0, Number.MAX_SAFE_INTEGER, () => undefined);
    }
  }

  private get length(): string {
    return `Content-Length: ${this.bytes}`;
  }

  private head(header: string, status = '200 OK'): string {
    const type = this.kind === 'events' ? EVENTS : 'text/plain';
    return `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${answerHeader}: ${this.id}\r\n${header}\r\n\r\n`;
  }

  private body(bytes = this.bytes): string {
    if (this.request.method === 'HEAD') return '';
    let text = '';
    while (text.length < bytes)
      text += patternBytes(this.id, this.kind, text.length, bytes).toString('latin1');
    return text;
  }

  private chunk(): string {
    return `${this.bytes.toString(16)}\r\n${this.body()}\r\n`;
  }

  /** An answer so small that it comes in one piece with what is behind it. */
  private small(): string {
    const bytes = this.kind === 'command' ? this.bytes : Math.min(this.bytes, 1_000);
    return this.head(`Content-Length: ${bytes}`) + this.body(bytes);
  }

  private write(text: string): void {
    this.request.socket.write(text, 'latin1');
  }

  /** Writes what ends the answer. */
  private send(text: string): void {
    this.request.isAnswered = true;
    this.write(text);
  }

  private drip(): void {
    const text = this.head(this.length) + this.body();
    const step = Math.ceil(text.length / DRIP_PIECES);
    let at = 0;
    const timer = setInterval(() => {
      this.write(text.slice(at, at + step));
      at += step;
      if (at < text.length && !this.request.socket.destroyed) return;
      clearInterval(timer);
      this.request.isAnswered = true;
    }, DRIP_INTERVAL_MS);
  }

  /** Sends a body as fast as it is taken. */
  private stream(from: number, end: number, onEnd: () => void): void {
    const { socket } = this.request;
    let at = from;
    const write = (): void => {
      while (!socket.destroyed) {
        if (at === end) return onEnd();
        const piece = patternBytes(this.id, this.kind, at, end);
        at += piece.length;
        if (!socket.write(piece)) return void socket.once('drain', write);
      }
    };
    write();
  }
}
