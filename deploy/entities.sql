-- The catalog: a row an agent. Electric serves it, and fences browsers to their tenant.
CREATE TABLE entities (
  url text PRIMARY KEY,
  type text NOT NULL,
  id text NOT NULL,
  status text NOT NULL,
  parent text,
  tenant text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The condition that every read of a browser begins with.
CREATE INDEX entities_tenant ON entities (tenant);
