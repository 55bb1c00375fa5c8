"""`feltro migrate`: whose schema, and what it says when it cannot."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pytest

from services.kit.migration import MigrationSettings, command, services
from services.kit.table.postgres_journal import PostgresJournal
from stack.postgres import EmbeddedPostgres
from tests.service.table.conftest import OWNER, GameDatabase, migrate
from tests.service.table.rounds import opened, play

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


async def test_migrating_again_is_harmless(
    journal: PostgresJournal, game_database: GameDatabase, service: Connection
) -> None:
    epoch = await journal.take("t1")
    await play(journal, epoch, opened("t1", 1), ["ana"])
    before = await service.fetch("SELECT * FROM stakes")
    migration = await asyncio.to_thread(migrate, game_database.owner_url)
    assert (migration.returncode, migration.stdout) == (0, "The roulette's database has the newest schema.\n")
    assert await service.fetch("SELECT * FROM stakes") == before


def test_a_role_that_does_not_exist_is_said(postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.kit.migration.role", lambda service: f"nobody_{service}")
    monkeypatch.setenv("FELTRO_ROULETTE_OWNER_URL", postgres.url("postgres", "postgres"))
    assert command(["roulette"]) == 1
    assert postgres.sql("SELECT to_regclass('rounds') IS NULL") == "t"


def test_each_service_has_its_own_variable(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, variable in ((["roulette"], "FELTRO_ROULETTE_OWNER_URL"), ([], "FELTRO_WALLET_OWNER_URL")):
        monkeypatch.delenv(variable, raising=False)
        with pytest.raises(SystemExit) as ended:
            command(arguments)
        assert ended.value.code == 78
        assert capsys.readouterr().err == f"{variable} is not set.\n"
    monkeypatch.setenv("FELTRO_ROULETTE_OWNER_URL", f"postgresql+asyncpg://{OWNER}:x@127.0.0.1/x")
    assert MigrationSettings.of("roulette")().owner_url.path == "/x"  # type: ignore[call-arg]


def test_a_service_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"wallet", "roulette"} <= set(services())
    assert "kit" not in services()
    for arguments in (["blackjak"], ["kit"], ["wallet", "roulette"], ["../wallet"]):
        assert command(arguments) == 2
        assert "usage: feltro migrate [" in capsys.readouterr().err
