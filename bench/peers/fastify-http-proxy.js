import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { authorization, MAX_SOCKETS, port, prefix, upstreamOrigin, upstreamPath } from './front.js';

const app = fastify({ logger: process.env.PEER_LOG === '1' });
app.get('/health', () => '');
app.register(httpProxy, {
  upstream: upstreamOrigin,
  prefix,
  rewritePrefix: upstreamPath,
  http2: false,
  undici: { connections: MAX_SOCKETS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 },
  preHandler(request, reply, done) {
    if (request.headers.authorization === authorization) done();
    else reply.code(401).send();
  },
  replyOptions: {
    rewriteRequestHeaders: (_, { authorization: _credential, ...headers }) => headers,
  },
});
await app.listen({ port, host: '127.0.0.1', backlog: 4096 });
