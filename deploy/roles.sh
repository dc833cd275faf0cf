#!/usr/bin/env bash
# Run once by Postgres' image, after entities.sql: a role for each service that connects, none a superuser.
#   electric   reads what it replicates and follows the log; the publication is made here, so it needs no right to make one
#   rows       writes rows of the catalog
set -euo pipefail
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set=electric="$ELECTRIC_DATABASE_PASSWORD" --set=rows="$ROWS_DATABASE_PASSWORD" <<'SQL'
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;

CREATE ROLE electric LOGIN REPLICATION PASSWORD :'electric';
GRANT CONNECT ON DATABASE :"DBNAME" TO electric;
GRANT USAGE ON SCHEMA public TO electric;
GRANT SELECT ON entities TO electric;
-- Electric wants whole rows in the log, and a publication of its own under this name.
ALTER TABLE entities REPLICA IDENTITY FULL;
CREATE PUBLICATION electric_publication_default FOR TABLE entities;
ALTER PUBLICATION electric_publication_default OWNER TO electric;

CREATE ROLE rows LOGIN PASSWORD :'rows';
GRANT CONNECT ON DATABASE :"DBNAME" TO rows;
GRANT USAGE ON SCHEMA public TO rows;
GRANT SELECT, INSERT, UPDATE ON entities TO rows;
SQL
