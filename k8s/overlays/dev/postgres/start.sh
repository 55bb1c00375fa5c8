# Makes the data at the first start and the databases and roles that are missing at every start; then serves.
# The passwords are files: `postgres` that of the administrator, and two for each service, `feltro_wallet` (the service's
# role) and `feltro_wallet_owner` (the schema's owner). Neither role may connect to another service's database.
set -euo pipefail
passwords=/run/feltro/passwords

if [ ! -f "$PGDATA/PG_VERSION" ]; then
  rm -rf "$PGDATA.making"
  initdb -D "$PGDATA.making" -E UTF8 --locale=C -A scram-sha-256 -U postgres --pwfile="$passwords/postgres"
  mv "$PGDATA.making" "$PGDATA"
fi

{
  echo "local all postgres scram-sha-256"
  for owner in "$passwords"/feltro_*_owner; do
    database=$(basename "$owner" _owner)
    echo "host $database $database,${database}_owner all scram-sha-256"
  done
} > "$PGDATA/pg_hba.conf"

# A server that nobody else reaches, for what has to be there before anybody comes.
pg_ctl -D "$PGDATA" -w -o "-c listen_addresses= -c unix_socket_directories=/tmp" start
PGPASSWORD=$(cat "$passwords/postgres")
export PGPASSWORD
for owner in "$passwords"/feltro_*_owner; do
  database=$(basename "$owner" _owner)
  for role in "$database" "${database}_owner"; do
    psql -X -q -v ON_ERROR_STOP=1 -h /tmp -U postgres -d postgres -v role="$role" -v password="$(cat "$passwords/$role")" <<'SQL'
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', :'role', :'password') \gexec
SQL
  done
  psql -X -q -v ON_ERROR_STOP=1 -h /tmp -U postgres -d postgres -v database="$database" -v owner="${database}_owner" <<'SQL'
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'owner')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
SELECT format('REVOKE ALL ON DATABASE %I, postgres, template1 FROM PUBLIC', :'database') \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', :'database', :'database') \gexec
SQL
done
unset PGPASSWORD
pg_ctl -D "$PGDATA" -w -m fast stop

exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp \
  -c shared_buffers=128MB -c max_connections=200
