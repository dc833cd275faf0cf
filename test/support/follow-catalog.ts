import { FetchError, Shape, ShapeStream } from '@electric-sql/client';
import type { Row, ShapeStreamOptions } from '@electric-sql/client';
import type { ReadToken } from './read-token.ts';

export interface Catalog extends Pick<ShapeStreamOptions, 'fetchClient' | 'backoffOptions'> {
  url: string;
  params: ShapeStreamOptions['params'];
  token: ReadToken;
  onRows: (rows: readonly Row[]) => void;
  /** The client has stopped for good. */
  onStopped: (error: Error) => void;
  signal: AbortSignal;
}

/** Follows a shape and reports all rows after each change, until the signal aborts. */
export function followCatalog(catalog: Catalog): ShapeStream {
  const { token, onRows, onStopped, ...options } = catalog;
  const stream = new ShapeStream({
    ...options,
    headers: { Authorization: () => token.authorization() },
    onError: (error) => {
      const isFinal = error instanceof FetchError && [400, 403].includes(error.status);
      if (isFinal) return;
      token.drop();
      // Any object means: continue from the last offset. Without one the client stops for good.
      return {};
    },
  });
  const shape = new Shape(stream);
  shape.subscribe(({ rows }) => {
    if (!shape.error) onRows(rows);
  });
  stream.subscribe(() => undefined, onStopped);
  return stream;
}
