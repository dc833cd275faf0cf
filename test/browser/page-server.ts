import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken, type TokenRequest } from '../support/read-tokens.ts';
import { listening } from '../support/listening.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');
const PACKAGES = join(import.meta.dirname, '../../packages');

/** This project's client library, and the protocols' clients that it uses, as published for browsers. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>browser test</title>
<script type="importmap">{"imports": {
  "@durable-streams/client": "/modules/@durable-streams/client/dist/index.js",
  "@electric-sql/client": "/modules/@electric-sql/client/dist/index.mjs"
}}</script>
<script type="module" src="/page/page-script.ts"></script>`;

export interface PageServer {
  /** The origin that the gateway has pinned. */
  origin: string;
  /** The same page by another name of this machine, so from an origin that is not pinned. */
  foreignOrigin: string;
  stop(): Promise<void>;
}

/** An application's web server: it serves the page and mints its read tokens. */
export async function startPageServer(): Promise<PageServer> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url, port, stop } = await listening(server);
  return { origin: url, foreignOrigin: `http://localhost:${port}`, stop };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/';
  if (path === '/token') {
    const wanted = JSON.parse(await text(request)) as TokenRequest;
    const token = await mintReadToken(READ_TOKEN_SECRET, wanted);
    send(response, 'application/json', JSON.stringify({ token, ttlSeconds: wanted.ttlSeconds }));
    return;
  }
  const [, kind, file = ''] = /^\/(modules|page|packages)\/([\w@./-]+)$/.exec(path) ?? [];
  if (kind === undefined) send(response, 'text/html', PAGE);
  else send(response, 'text/javascript', await source(kind, file));
}

async function source(kind: string, file: string): Promise<string> {
  const folders: Record<string, string> = { modules: MODULES, packages: PACKAGES };
  const content = await readFile(join(folders[kind] ?? import.meta.dirname, file), 'utf8');
  return file.endsWith('.ts') ? stripTypeScriptTypes(content) : content;
}

function send(response: ServerResponse, contentType: string, content: string): void {
  response.writeHead(200, { 'content-type': contentType }).end(content);
}
