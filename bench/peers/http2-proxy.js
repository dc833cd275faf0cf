import { Agent } from 'node:http';
import proxy from 'http2-proxy';
import { listen, MAX_SOCKETS, upstreamOrigin, upstreamTarget } from './front.js';

const { hostname, port } = new URL(upstreamOrigin);
const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

listen((request, response) => {
  void proxy.web(
    request,
    response,
    {
      hostname,
      port,
      path: upstreamTarget(request.url),
      onReq: (_, options) => {
        options.agent = agent;
      },
    },
    (error) => {
      if (error) response.destroy();
    },
  );
});
