import { once } from 'node:events';
import { createServer, request as nodeRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import express from 'express';
import { AgentGateway } from '../../packages/client/src/index.ts';
import {
  chatBackEnd,
  type ChatBackEndOptions,
  type ChatUser,
} from '../../packages/client/src/server/index.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/gateway.ts';
import { answer } from '../support/node-adapter.ts';
import { listening, type Listening } from '../support/listening.ts';

export interface ChatServer extends Listening {
  /** What only the log of the back end gets. */
  faults: unknown[];
}

/** The user of the cookie `user=…`, who owns the agent `chat/<user>` and those whose ids begin with `<user>.`. */
export function userOf(request: Request, more: Partial<ChatUser> = {}): ChatUser | undefined {
  const [, subject] = /(?:^|; )user=([\w.-]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
  if (subject === undefined) return undefined;
  const owns = (agent: string): boolean =>
    agent === `chat/${subject}` || agent.startsWith(`chat/${subject}.`);
  return { subject, owns, ...more };
}

/** A program with a chat's back end, on a free port, by Node's server alone or below Express. */
export async function startChatServer(
  gatewayUrl: string,
  by: 'node' | 'express' = 'node',
  options: Partial<ChatBackEndOptions> = {},
): Promise<ChatServer> {
  const faults: unknown[] = [];
  const chat = chatBackEnd({
    gateway: new AgentGateway({ url: gatewayUrl, apiKey: API_KEY }),
    readTokenSecret: READ_TOKEN_SECRET,
    authorize: (request) => userOf(request),
    onError: (error) => faults.push(error),
    ...options,
  });
  const server =
    by === 'node'
      ? createServer((incoming, outgoing) => {
          answer(chat, incoming, outgoing).catch(() => outgoing.writeHead(400).end());
        })
      : createServer(
          express().use('/chat', (incoming, outgoing, next) => {
            answer(chat, incoming, outgoing).catch(next);
          }),
        );
  return { ...(await listening(server)), faults };
}

export interface Sent {
  status: number;
  headers: Record<string, unknown>;
  /** Parsed, where it is JSON. */
  body: unknown;
}

export interface Asked {
  method?: string;
  user?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Never ends the body. */
  isSlow?: boolean;
}

/** As a page of the same origin sends it, with the target as it is. An empty header is left out. */
export async function ask(
  { port }: Pick<ChatServer, 'port'>,
  path: string,
  { method = 'POST', user = 'ada', headers = {}, body = '{}', isSlow = false }: Asked = {},
): Promise<Sent> {
  const all = {
    'content-type': 'application/json',
    'sec-fetch-site': 'same-origin',
    cookie: `user=${user}`,
    ...headers,
  };
  const request = nodeRequest({
    port,
    host: '127.0.0.1',
    path,
    method,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
  });
  // The server may answer and close before it has read all of a body.
  request.on('error', () => undefined);
  if (isSlow) request.write(body);
  else request.end(method === 'POST' ? body : undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const said = await text(response);
  if (isSlow) request.destroy();
  const isJson = /json/.test(response.headers['content-type'] ?? '');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: isJson ? (JSON.parse(said) as unknown) : said,
  };
}
