import { Shape, ShapeStream } from '/clients/electric/index.mjs';
import { ReadToken } from './read-token.js';
import { watchedFetch } from './watched-fetch.js';

const START_AGAIN_MS = 5_000;

/** Follows the catalog as long as the page is open; `onRows` gets all rows after every change. */
export function followCatalog(gatewayUrl, { onRows, report }) {
  const token = new ReadToken('/shapes/v1/shape', report);
  const stream = new ShapeStream({
    url: `${gatewayUrl}/shapes/v1/shape`,
    params: { table: 'entities' },
    // A function: the client asks it at every request.
    headers: { Authorization: () => token.authorization() },
    fetchClient: watchedFetch(report),
    backoffOptions: { initialDelay: 200, maxDelay: 5_000, multiplier: 1.5 },
    warnOnHttp: false,
    onError: (error) => {
      if (error.status === 401) token.drop();
      // Without an object the client stops for good; with one it goes on from its last offset.
      return {};
    },
  });
  const shape = new Shape(stream);
  shape.subscribe(({ rows }) => {
    if (!shape.error) onRows(rows);
  });
  // After 50 errors in a row the client stops all the same.
  stream.subscribe(
    () => {},
    () => setTimeout(() => followCatalog(gatewayUrl, { onRows, report }), START_AGAIN_MS),
  );
}
