#!/usr/bin/env bash
# Makes the secrets of deploy/compose.yaml, in deploy/.env. Those that are there already stay: with others
# Postgres would no longer let anybody in.
set -euo pipefail
file=$(dirname "$0")/.env
umask 077
touch "$file"
for name in API_KEY AGENTS_API_KEY REGISTER_API_KEY READ_TOKEN_SECRET ELECTRIC_SECRET POSTGRES_PASSWORD ELECTRIC_DATABASE_PASSWORD ROWS_DATABASE_PASSWORD; do
  grep -q "^$name=." "$file" || echo "$name=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')" >>"$file"
done
echo "The secrets are in $file. An API key for the first call: API_KEY."
