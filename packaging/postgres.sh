#!/bin/sh
# Creates the server's role and its database in a new cluster; compose.yaml mounts it where the
# PostgreSQL image looks for it. Row-level security does not apply to superusers and roles with
# BYPASSRLS, so the role is neither.
set -eu

psql --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/daysheet_password)" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE daysheet LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE daysheet OWNER daysheet;
REVOKE ALL ON DATABASE daysheet FROM PUBLIC;
SQL
