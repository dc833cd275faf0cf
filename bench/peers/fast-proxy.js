import fastProxy from 'fast-proxy';
import { listen, MAX_SOCKETS, upstreamOrigin, upstreamTarget } from './front.js';

const front = fastProxy({
  base: upstreamOrigin,
  // Its cache of parsed addresses would grow without end: each is asked once.
  cacheURLs: 0,
  undici: { connections: MAX_SOCKETS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 },
});

listen((request, response) => {
  front.proxy(request, response, upstreamTarget(request.url), {});
});
