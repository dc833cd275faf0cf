import type { RequestListener, Server } from 'node:http';

/** Node's limit. It does not follow `maxHeaderSize`, because that does not count line ends. */
const MAX_HEADERS = 1_000;

/**
 * Refuses a request with a thousand headers or more, as Node 24 does by itself. Node 22 hides the further ones, which
 * its parser obeys all the same: a hidden `Content-Length` or `Upgrade` decides where the next request begins.
 */
export function refuseHiddenHeaders(server: Server, listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.rawHeaders.length < 2 * MAX_HEADERS) listener(request, response);
    else server.emit('clientError', new HeaderOverflow('too many headers'), request.socket);
  };
}

/** The error of Node's parser for it. */
class HeaderOverflow extends Error {
  readonly code = 'HPE_HEADER_OVERFLOW';
}
