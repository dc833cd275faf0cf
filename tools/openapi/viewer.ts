import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/**
 * Swagger UI would send the document to an online validator. It also sends no requests to the gateway, because CORS
 * lets no page send commands.
 */
const SETTINGS = `window.ui = SwaggerUIBundle({
  url: './openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'BaseLayout',
  supportedSubmitMethods: [],
  validatorUrl: null,
});
`;

/** The files by path: the media type, and the path or the content. */
const PAGES: Record<string, [mediaType: string, read: () => Promise<string | Buffer>]> = {
  '/': ['text/html', () => readFile(join(SWAGGER_UI, 'index.html'))],
  '/openapi.json': ['application/json', () => readFile(DOCUMENT)],
  '/swagger-initializer.js': ['text/javascript', () => Promise.resolve(SETTINGS)],
  ...Object.fromEntries(
    [
      ['swagger-ui.css', 'text/css'],
      ['index.css', 'text/css'],
      ['swagger-ui-bundle.js', 'text/javascript'],
      ['swagger-ui-standalone-preset.js', 'text/javascript'],
      ['favicon-16x16.png', 'image/png'],
      ['favicon-32x32.png', 'image/png'],
    ].map(([name = '', mediaType = '']) => [
      `/${name}`,
      [mediaType, () => readFile(join(SWAGGER_UI, name))],
    ]),
  ),
};

export interface Viewer {
  url: string;
  stop(): Promise<void>;
}

/** Serves the document on this machine only. The page loads nothing from other servers. */
export async function startViewer(port: number): Promise<Viewer> {
  const server = createServer((request, response) => {
    void answer(request.url ?? '').then(([status, mediaType, body]) => {
      response.writeHead(status, {
        'content-type': `${mediaType}; charset=utf-8`,
        'content-security-policy':
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
      });
      response.end(body);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => stop(server),
  };
}

async function answer(path: string): Promise<[number, string, string | Buffer]> {
  const page = PAGES[path];
  return page ? [200, page[0], await page[1]()] : [404, 'text/plain', 'There is no such page.'];
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
