import type { Script } from '../support/scripted-upstream.ts';

/**
 * Answers as the history store and Electric can, each time with another body and with the most
 * open caching that either sends: whatever a cache may keep, it would keep.
 */
export function openlyCachedUpstream(): Script {
  let answers = 0;
  return (request, response) => {
    answers += 1;
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://upstream');
    const body = JSON.stringify([{ answer: answers, secret: pathname }]);
    const [status, cacheControl] = answerFor(searchParams, pathname);
    response.statusCode = status;
    if (cacheControl !== undefined) response.setHeader('Cache-Control', cacheControl);
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('ETag', '"same:0:1"');
    response.setHeader('Stream-Next-Offset', '1');
    if (request.headers['if-none-match'] === '"same:0:1"') response.writeHead(304).end();
    else response.end(body);
  };
}

/** Electric's own values, from its sources; see `docs/browser.md`. */
function answerFor(query: URLSearchParams, path: string): [number, string | undefined] {
  if (path.includes('missing')) return [404, 'public, max-age=60'];
  if (path.includes('broken')) return [500, 'public, max-age=60'];
  if (path.includes('cdn')) return [200, undefined];
  if (query.has('handle') && query.get('handle') === 'stale') {
    return [409, 'public, max-age=60, must-revalidate'];
  }
  if (query.has('live')) return [200, 'public, max-age=5, stale-while-revalidate=5'];
  if (query.get('offset') === '-1') {
    return [200, 'public, max-age=604800, s-maxage=3600, stale-while-revalidate=2629746'];
  }
  return [200, 'public, max-age=60, stale-while-revalidate=300'];
}
