import { Agent } from 'node:http';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { listen, MAX_SOCKETS, upstreamOrigin, upstreamTarget } from './front.js';

const middleware = createProxyMiddleware({
  target: upstreamOrigin,
  agent: new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
});

listen((request, response) => {
  request.url = upstreamTarget(request.url);
  void middleware(request, response, () => response.writeHead(404).end());
});
