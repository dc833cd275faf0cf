import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

interface ChatMessage {
  role: string;
  content: string | null;
}

const WORD_DELAY_MS = 20;

/** How often a message that asks for failures has failed. */
const failures = new Map<string, number>();

/**
 * A small model for trying, on a free port of this machine. It streams and needs no key. "weather in Rome" calls a tool, "count to
 * 100" takes a while, and "fail 2 times" fails twice before it answers. @returns its address.
 */
export async function startStandIn(): Promise<string> {
  const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  const { messages } = JSON.parse(body) as { messages: ChatMessage[] };
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[asked]?.content ?? '';
  const since = messages.slice(asked + 1);
  const [, times] = /\bfail (\d+) times?\b/.exec(question) ?? [];
  const failed = failures.get(question) ?? 0;
  if (failed < Number(times ?? 0)) {
    failures.set(question, failed + 1);
    res.writeHead(503).end('out of order');
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object) =>
    res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  const result = since.findLast(({ role }) => role === 'tool')?.content;
  const [, city] = /\bweather in (\w+)/.exec(question) ?? [];
  if (city && !result) {
    const call = { name: 'weather', arguments: JSON.stringify({ city }) };
    send({ tool_calls: [{ index: 0, id: `call-${asked}`, type: 'function', function: call }] });
  } else {
    await say(send, replyTo(question, result), since);
  }
  res.end('data: [DONE]\n\n');
}

/** Continues with what comes after the text that was said before. */
async function say(
  send: (delta: object) => void,
  reply: string,
  since: ChatMessage[],
): Promise<void> {
  const said = since
    .map(({ role, content }) => (role === 'assistant' ? (content ?? '') : ''))
    .join('');
  const rest = reply.startsWith(said) ? reply.slice(said.length) : reply;
  for (const word of rest.match(/\S+\s*|\s+/g) ?? []) {
    await delay(WORD_DELAY_MS);
    send({ content: word });
  }
}

function replyTo(question: string, result: string | null | undefined): string {
  if (result) return `The tool says ${result}.`;
  const [, limit] = /\bcount to (\d{1,4})\b/.exec(question) ?? [];
  if (limit) return Array.from({ length: Number(limit) }, (_, index) => index + 1).join(' ');
  return `I am no model. You said: ${question}`;
}
