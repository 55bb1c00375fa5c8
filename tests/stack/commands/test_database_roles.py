"""What a service's role opens if its password is stolen: its own database, where it can change nothing for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from stack.commands.container_secrets import POSTGRES, ContainerSecrets
from stack.databases import DATABASES, ServiceDatabase
from stack.servers import ephemeral
from tests.processes.databases import POSTGRES_TEST_SETTINGS, migrate

BY_SERVICE = {database.service: database for database in DATABASES}
# All games have one schema.
MIGRATED = ("wallet", "poker")
FORBIDDEN = (
    "CREATE TABLE taken ()",
    "DROP TABLE alembic_version",
    "DELETE FROM alembic_version",
    "CREATE ROLE taken SUPERUSER",
    "COPY (SELECT 1) TO PROGRAM 'true'",
)
FORBIDDEN_IN = {
    "wallet": ("UPDATE entries SET amount_cents = 0", "DELETE FROM transfers", "TRUNCATE entries"),
    "poker": ("UPDATE draws SET entropy = NULL", "DELETE FROM rounds", "TRUNCATE moves"),
}


class Roles:
    """A server with the databases and roles of a platform, as `make compose-secrets` has them made."""

    def __init__(self, secrets: ContainerSecrets, address: str) -> None:
        self._secrets = secrets
        self._address = address

    def url(self, role: str, database: ServiceDatabase) -> str:
        return self._secrets.database_url(role, database).replace(POSTGRES, self._address)

    async def answer(self, url: str, statement: str) -> str:
        """Runs a statement; returns the name of the refusal if there is one."""
        try:
            connection = await asyncpg.connect(url.replace("+asyncpg", ""))
        except asyncpg.PostgresError as refused:
            return type(refused).__name__
        try:
            return str(await connection.fetchval(statement))
        except asyncpg.PostgresError as refused:
            return type(refused).__name__
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    secrets = ContainerSecrets(tmp_path_factory.mktemp("roles") / "compose")
    secrets.prepare()
    script = Path(secrets.folder("postgres"), "databases.sql").read_text()
    with ephemeral.postgres(POSTGRES_TEST_SETTINGS) as server:
        for statement in script.splitlines():
            server.sql(statement)
        made = Roles(secrets, f"127.0.0.1:{server.port}")
        for service in MIGRATED:
            database = BY_SERVICE[service]
            migration = migrate(service, made.url(database.owner, database))
            assert migration.returncode == 0, migration.stderr
        yield made


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("own", DATABASES, ids=lambda database: database.service)
async def test_g12_a_role_connects_to_its_own_database_and_to_no_other(roles: Roles, own: ServiceDatabase) -> None:
    url = roles.url(own.user, own)
    assert await roles.answer(url, "SELECT current_database()") == own.name
    for other in [*(each.name for each in DATABASES if each is not own), "postgres", "template1"]:
        answer = await roles.answer(f"{url.rpartition('/')[0]}/{other}", "SELECT current_database()")
        assert answer == "InsufficientPrivilegeError", other


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("service", MIGRATED)
async def test_g12_a_role_changes_neither_the_schema_nor_what_was_written(roles: Roles, service: str) -> None:
    url = roles.url(BY_SERVICE[service].user, BY_SERVICE[service])
    statements = [*FORBIDDEN, *FORBIDDEN_IN[service]]
    answers = {statement: await roles.answer(url, statement) for statement in statements}
    assert answers == dict.fromkeys(statements, "InsufficientPrivilegeError")
