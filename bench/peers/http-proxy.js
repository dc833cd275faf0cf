import { Agent } from 'node:http';
import httpProxy from 'http-proxy';
import { listen, MAX_SOCKETS, upstreamOrigin, upstreamTarget } from './front.js';

const proxy = httpProxy.createProxyServer({
  target: upstreamOrigin,
  agent: new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
});
proxy.on('error', (_, request, response) => {
  response.destroy();
});

listen((request, response) => {
  request.url = upstreamTarget(request.url);
  proxy.web(request, response);
});
