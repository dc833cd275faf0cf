import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Changes } from '../support/changes.ts';
import { listening } from '../support/listening.ts';
import { awaited } from '../support/until.ts';

type Headers = Record<string, string | string[]>;

/** A request that has reached the upstream. The test decides when it is answered. */
export class HeldRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when its answer is done or its connection gone. */
  readonly over: Promise<void>;
  /** Whether the other side has gone before the whole of an answer was sent. */
  wasLeft = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    response.on('error', () => undefined);
    this.over = new Promise((resolve) => {
      response.once('close', () => {
        this.wasLeft = !response.writableFinished;
        resolve();
      });
    });
  }

  get target(): string {
    return this.request.url ?? '';
  }

  /** Answers as a whole, with a `Content-Length`. */
  answer(status: number, headers: Headers = {}, body: string | Buffer = ''): void {
    const length = body.length === 0 ? {} : { 'content-length': Buffer.byteLength(body) };
    this.response.writeHead(status, { ...headers, ...length }).end(body);
  }

  /** Begins an answer; what follows goes through `response`. */
  begin(status: number, headers: Headers = {}, body: string | Buffer = ''): void {
    this.response.writeHead(status, headers).flushHeaders();
    if (body.length > 0) this.response.write(body);
  }

  /** Resolves once the system has taken these bytes, or the other side has gone. */
  async write(body: string | Buffer): Promise<void> {
    const taken = new Promise((resolve) => this.response.write(body, resolve));
    await Promise.race([taken, this.over]);
  }

  /** Breaks the connection off, as a process does that is killed. */
  reset(): void {
    this.request.socket.resetAndDestroy();
  }
}

/** The requests whose target contains a name that the test chose. */
export interface HeldRequests {
  /** All so far, in the order in which they came. */
  readonly all: readonly HeldRequest[];
  /** The first, second, … as soon as it is there. */
  nth(number: number): Promise<HeldRequest>;
  /** Does this with each that is held, and with each to come: one that was reset may be sent again. */
  each(handle: (request: HeldRequest) => void): void;
}

export interface HeldUpstream {
  url: string;
  /** How many connections it has accepted so far. */
  readonly accepted: number;
  at(name: string): HeldRequests;
  stop(): Promise<void>;
}

/** A read that is answered at once. Its response proves that the reads before it have arrived. */
export const WITNESS = 'witness';

/** A real HTTP server that holds every request until the test gives the response. */
export async function startHeldUpstream(): Promise<HeldUpstream> {
  const all: HeldRequest[] = [];
  const changes = new Changes();
  const handlers = new Map<string, (request: HeldRequest) => void>();
  const server = createServer((request, response) => {
    if (request.url?.includes(WITNESS)) return void response.end(WITNESS);
    const held = new HeldRequest(request, response);
    all.push(held);
    changes.tell();
    for (const [name, handle] of handlers) if (held.target.includes(name)) handle(held);
  });
  server.keepAliveTimeout = 60_000;
  let accepted = 0;
  server.on('connection', () => accepted++);
  const { url, stop } = await listening(server);

  const named = (name: string): HeldRequest[] => all.filter(({ target }) => target.includes(name));
  return {
    url,
    get accepted() {
      return accepted;
    },
    at: (name) => ({
      get all() {
        return named(name);
      },
      nth: (number) =>
        awaited(
          () => `request ${number} of ${name}, after ${named(name).length}`,
          changes.found(() => named(name)[number - 1]),
        ),
      each: (handle) => {
        handlers.set(name, handle);
        for (const request of named(name)) if (!request.response.headersSent) handle(request);
      },
    }),
    stop,
  };
}
