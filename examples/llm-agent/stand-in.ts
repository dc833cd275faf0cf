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
 * A small model for trying, on a free port of this machine. It streams and needs no key. "weather in Rome" calls a tool, "refund 50"
 * one that asks, "research order 17" another agent, "count to 100" takes a while, and "fail 2 times" fails twice before it answers.
 * @returns its address.
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
  const isResearcher = messages.some(({ role }) => role === 'system');
  const call = isResearcher ? undefined : callFor(question);
  const reply = isResearcher ? findings(question) : replyTo(question, call, result);
  await say(send, call && !result ? call.before : reply, since);
  if (call && !result) {
    const { name, input } = call;
    const wanted = { name, arguments: JSON.stringify(input) };
    send({ tool_calls: [{ index: 0, id: `call-${asked}`, type: 'function', function: wanted }] });
  }
  const usage = { prompt_tokens: wordsOf(body).length, completion_tokens: wordsOf(reply).length };
  res.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  res.end('data: [DONE]\n\n');
}

interface Call {
  /** What it says before the call. */
  before: string;
  name: string;
  input: object;
}

function callFor(question: string): Call | undefined {
  const [, city] = /\bweather in (\w+)/.exec(question) ?? [];
  if (city) return { before: '', name: 'weather', input: { city } };
  const [, amount] = /\brefund (\d{1,6})\b/.exec(question) ?? [];
  if (amount) {
    const before = `I can refund ${amount}, if you agree. `;
    return { before, name: 'refund', input: { amount: Number(amount) } };
  }
  const [, topic] = /\bresearch (.+)/.exec(question) ?? [];
  if (!topic) return undefined;
  return { before: `I will ask a colleague. `, name: 'research', input: { question: topic } };
}

function findings(question: string): string {
  return `I looked for ${question}. It was packed on Monday, left the store on Tuesday, and is with the carrier now. The carrier expects to bring it on Friday before noon. Nothing was reported as damaged or lost.`;
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
  for (const word of wordsOf(rest)) {
    await delay(WORD_DELAY_MS);
    send({ content: word });
  }
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function replyTo(
  question: string,
  call: Call | undefined,
  result: string | null | undefined,
): string {
  if (result) {
    const value = JSON.parse(result) as unknown;
    const { error } = (value ?? {}) as { error?: string };
    const { before = '', name } = call ?? {};
    if (error !== undefined) return `${before}Nothing happened: ${error}.`;
    if (name === 'research') return `${before}${String(value)}`;
    if (name === 'refund') return `${before}The money is on its way.`;
    return `${before}The tool says ${result}.`;
  }
  const [, limit] = /\bcount to (\d{1,4})\b/.exec(question) ?? [];
  if (limit) return Array.from({ length: Number(limit) }, (_, index) => index + 1).join(' ');
  return `I am no model. You said: ${question}`;
}
