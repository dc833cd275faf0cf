import type { Row } from '@electric-sql/client';

/** A row of the catalog's table `entities`, as agents write it and as Electric sends it: every value is text. */
export interface EntityRow extends Row {
  /** The URL of the agent, `/t/<tenant>/a/<type>/<id>`. */
  url: string;
  type: string;
  id: string;
  status: string;
  /** The URL of the agent that spawned this one. */
  parent: string | null;
  tenant: string;
  /** The times, as ISO 8601 when an agent writes them, and as Postgres prints them when they are read. */
  created_at: string;
  updated_at: string;
}
