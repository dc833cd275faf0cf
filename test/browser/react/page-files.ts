import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from '../../support/listening.ts';

/** Serves a bundled page at any path but those below `/chat/`, which are those of its back end. */
export function startPage(
  files: ReadonlyMap<string, string>,
  backEnd: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): ReturnType<typeof listening> {
  const [entry = ''] = files.keys();
  const html = `<!doctype html><meta charset="utf-8"><div id="root"></div><script type="module" src="${entry}"></script>`;
  return listening(
    createServer((incoming, outgoing) => {
      const path = incoming.url ?? '/';
      if (path.startsWith('/chat/')) return backEnd(incoming, outgoing);
      const script = files.get(path);
      const contentType = script === undefined ? 'text/html' : 'text/javascript';
      outgoing.writeHead(200, { 'content-type': contentType }).end(script ?? html);
    }),
  );
}
