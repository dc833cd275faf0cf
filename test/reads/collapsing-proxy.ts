import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Answer {
  status: number;
  nextOffset: string;
  body: string;
}

/** Until when a reader may join a request in flight. */
export type JoinUntil = 'answer is there' | 'answer has begun';

/**
 * A proxy that shares reads the way that comes to mind first, and that caches offer ("collapsed
 * forwarding"): who asks for what is already under way gets that answer, though it may have been made
 * before the question.
 */
export async function startCollapsingProxy(
  upstreamUrl: string,
  joinUntil: JoinUntil,
): Promise<{ url: string; stop(): Promise<void> }> {
  const underWay = new Map<string, Promise<Answer>>();

  async function ask(target: string): Promise<Answer> {
    try {
      const answer = await fetch(upstreamUrl + target);
      if (joinUntil === 'answer has begun') underWay.delete(target);
      const body = await answer.text();
      const nextOffset = answer.headers.get('stream-next-offset') ?? '';
      return { status: answer.status, nextOffset, body };
    } finally {
      underWay.delete(target);
    }
  }

  const server = createServer((request, response) => {
    const target = request.url ?? '';
    if (request.method !== 'GET') return void pass(request.method ?? '', target);
    let answer = underWay.get(target);
    if (!answer) underWay.set(target, (answer = ask(target)));
    answer.then(
      ({ status, nextOffset, body }) =>
        response.writeHead(status, { 'stream-next-offset': nextOffset }).end(body),
      () => response.destroy(),
    );

    async function pass(method: string, to: string): Promise<void> {
      const body = (await request.toArray()).join('');
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(upstreamUrl + to, { method, headers, body });
      response.writeHead(status).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
