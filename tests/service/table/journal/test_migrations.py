"""`feltro migrate` for a game: the schema of its tables, older rounds, and refusals."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.database.migration import MigrationSettings, command, services_with_database
from services.kit.paging import PageRequest
from services.kit.table.journal.entries import DrawTrigger
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, GameDatabase, migrate
from tests.service.table.entries import opened, write_round

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


async def test_migrating_again_is_harmless(
    journal: PostgresJournal, game_database: GameDatabase, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    before = await service_connection.fetch("SELECT * FROM stakes")
    migration = await asyncio.to_thread(migrate, "roulette", game_database.owner_url)
    assert (migration.returncode, migration.stdout) == (0, "The roulette's database has the newest schema.\n")
    assert await service_connection.fetch("SELECT * FROM stakes") == before


@pytest.mark.rule("GLI-19 4.16")
async def test_older_rounds_have_no_recorded_draw_trigger(
    journal: PostgresJournal,
    game_database: GameDatabase,
    engine: AsyncEngine,
    service_connection: Connection,
    owner_connection: Connection,
) -> None:
    """Older software wrote before the migration, and goes on beside the new until it is replaced."""
    await owner_connection.execute(UNDO_0008)
    await owner_connection.execute(UNDO_0006)
    await owner_connection.execute(UNDO_0004)
    await owner_connection.execute(UNDO_0003)
    await owner_connection.execute(UNDO_0002)
    older = importlib.import_module("services.kit.table.migrations.versions.0001_tables")
    for table, body in older._CHECKS.items():
        check = older._CHECK.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
        await owner_connection.execute(check.format(table=table, body=body))
    await _write_as_older_software(service_connection, 1)
    migration = await asyncio.to_thread(migrate, "roulette", game_database.owner_url)
    assert migration.returncode == 0, migration.stderr
    await _write_as_older_software(service_connection, 2)
    history = RoundHistory(engine)
    for number in (1, 2):
        record = await history.round_for_replay(f"old.{number}")
        assert record is not None
        assert record.drawn is not None
        assert record.ended is not None
        assert (record.drawn.draw_trigger, record.drawn.cancelled_stakes) == (DrawTrigger.UNKNOWN, ())
        assert (record.ended.closed_at, record.ended.cancelled_stakes) == (None, ())
    found = (await history.list_player_rounds("ana", PageRequest())).items
    assert [(each.round.round_id, each.round.draw_trigger, each.cancelled_stakes) for each in found] == [
        ("old.2", DrawTrigger.UNKNOWN, []),
        ("old.1", DrawTrigger.UNKNOWN, []),
    ]
    # The newest writer writes to the migrated tables.
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])


UNDO_0008 = """
DROP TABLE tournament_facts, tournament_requests, tournament_summaries;
DROP FUNCTION check_tournament_facts
"""
UNDO_0006 = "DROP TABLE kept_lineups"
UNDO_0004 = """
ALTER TABLE draws DROP COLUMN shoe_round_id, DROP COLUMN cards_taken;
UPDATE alembic_version SET version_num = '0003'
"""
UNDO_0003 = """
DROP TABLE moves, paid, seats;
ALTER TABLE draws DROP COLUMN entropy_key, DROP COLUMN stake_count, ALTER COLUMN outcome SET NOT NULL;
ALTER TABLE endings DROP COLUMN outcome;
UPDATE alembic_version SET version_num = '0002'
"""
UNDO_0002 = """
ALTER TABLE draws DROP COLUMN draw_trigger, DROP COLUMN cancelled_stakes;
ALTER TABLE endings DROP COLUMN closed_at, DROP COLUMN cancelled_stakes;
UPDATE alembic_version SET version_num = '0001'
"""
# The columns of revision 0001.
OLDER_ROUND = """
INSERT INTO rounds (round_no, round_id, placement_id, table_id, number, configuration_version, epoch, opened_at)
SELECT nextval('round_no'), $1, 'old', 'old', $2, 1, 1, now();
INSERT INTO draws (round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids)
SELECT round_no, 1, now(), now(), 'e', '17', '{s}' FROM rounds WHERE round_id = $1 AND number = $2;
INSERT INTO stakes (round_no, position, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents,
                    bets, placed_at)
SELECT round_no, 0, $1, 'r', 'ana', 'a', 's', 1, 100, 'b', now() FROM rounds WHERE round_id = $1 AND number = $2;
INSERT INTO endings (round_no, epoch, ending, ended_at, void_reason)
SELECT round_no, 1, 2, now(), '' FROM rounds WHERE round_id = $1 AND number = $2
"""


async def _write_as_older_software(service_connection: Connection, number: int) -> None:
    async with service_connection.transaction():
        for statement in OLDER_ROUND.split(";\n"):
            await service_connection.execute(statement, f"old.{number}", number)


def test_a_missing_role_is_reported(postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.kit.database.migration.role_of", lambda service: f"nobody_{service}")
    monkeypatch.setenv("FELTRO_ROULETTE_OWNER_URL", postgres.url("postgres", "postgres"))
    assert command(["roulette"]) == 1
    assert postgres.sql("SELECT to_regclass('rounds') IS NULL") == "t"


def test_of_several_databases_the_first_that_fails_leaves_the_rest(
    game_database: GameDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FELTRO_ROULETTE_OWNER_URL", game_database.owner_url)
    assert command(["roulette", "roulette"]) == 0
    assert capsys.readouterr().out == "The roulette's database has the newest schema.\n" * 2
    monkeypatch.setenv("FELTRO_BACCARAT_OWNER_URL", f"postgresql+asyncpg://{OWNER_ROLE}:x@127.0.0.1:1/nothing")
    monkeypatch.delenv("FELTRO_WALLET_OWNER_URL", raising=False)
    # The settings of the wallet's would be missing if it were reached.
    assert command(["roulette", "baccarat", "wallet"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "The roulette's database has the newest schema.\n"
    assert printed.err.startswith("feltro migrate: the database was not changed: ")


def test_each_service_has_its_own_variable(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, variable in ((["roulette"], "FELTRO_ROULETTE_OWNER_URL"), (["wallet"], "FELTRO_WALLET_OWNER_URL")):
        monkeypatch.delenv(variable, raising=False)
        with pytest.raises(SystemExit) as ended:
            command(arguments)
        assert ended.value.code == 78
        assert capsys.readouterr().err == f"{variable} is not set.\n"
    monkeypatch.setenv("FELTRO_ROULETTE_OWNER_URL", f"postgresql+asyncpg://{OWNER_ROLE}:x@127.0.0.1/x")
    assert MigrationSettings.for_service("roulette")().owner_url.path == "/x"  # type: ignore[call-arg]


def test_an_unknown_service_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"wallet", "roulette"} <= set(services_with_database())
    assert "kit" not in services_with_database()
    for arguments in ([], ["blackjak"], ["kit"], ["wallet", "blackjak"], ["../wallet"]):
        assert command(arguments) == 2
        assert "usage: feltro migrate <" in capsys.readouterr().err
