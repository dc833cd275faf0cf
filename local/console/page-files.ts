import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Refusal } from './answers.ts';

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const PAGE = join(import.meta.dirname, 'page');
const CLIENT = join(import.meta.dirname, '../../packages/client/src');
// All three are published as ES modules without bare imports: a browser loads them as they are.
const MARKDOWN = join(distOf('markdown-it'), 'browser/markdown-it.esm.min.mjs');
const DURABLE_STREAMS = distOf('@durable-streams/client');
const ELECTRIC = distOf('@electric-sql/client');
/** The URLs of the packages that the page and the client library import by name. */
const PACKAGE_PATHS: Record<string, string> = {
  '@durable-streams/client': '/modules/durable-streams.js',
  '@electric-sql/client': '/modules/electric/index.mjs',
  'markdown-it/browser': '/modules/markdown-it.mjs',
};

/** The file of a path of the console. A name contains no slash, so none leads elsewhere. */
export function findPageFile(path: string): string | undefined {
  if (path === '/') return join(PAGE, 'index.html');
  if (path === '/modules/durable-streams.js') return join(DURABLE_STREAMS, 'index.js');
  if (path === '/modules/markdown-it.mjs') return MARKDOWN;
  const [, electric] = /^\/modules\/electric\/([\w-]+\.mjs)$/.exec(path) ?? [];
  if (electric !== undefined) return join(ELECTRIC, electric);
  const [, library] = /^\/packages\/client\/src\/([\w-]+\.ts)$/.exec(path) ?? [];
  if (library !== undefined) return join(CLIENT, library);
  const [, script] = /^\/page\/([\w-]+\.ts)$/.exec(path) ?? [];
  if (script !== undefined) return join(PAGE, script);
  const [, own] = /^\/([\w-]+\.(?:css|svg))$/.exec(path) ?? [];
  return own === undefined ? undefined : join(PAGE, own);
}

/** It is read each time, so that a change of the page shows after a reload. */
export async function sendPageFile(file: string, response: ServerResponse): Promise<void> {
  const content = await readFile(file).catch(() => {
    throw new Refusal(404, 'not_found', 'There is nothing at this path.');
  });
  const contentType = CONTENT_TYPES[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache' });
  response.end(extname(file) === '.ts' ? forBrowsers(content.toString('utf8')) : content);
}

/** Removes its types, and replaces names of packages by paths. */
function forBrowsers(source: string): string {
  const script = stripTypeScriptTypes(source);
  return script.replace(
    /\b(import\(|from )'(@[\w-]+\/client|markdown-it\/browser)'/g,
    (whole, how: string, name: string) => {
      const path = PACKAGE_PATHS[name];
      return path === undefined ? whole : `${how}'${path}'`;
    },
  );
}

function distOf(packageName: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  return join(dirname(manifest), 'dist');
}
