"""The facts of ended sessions: each player receives theirs once, however many end together, and after a failure."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text

from services.kit.database import postgresql
from services.wallet.sessions import ended_facts
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, InProcessWallet, Seat

WAITING = "SELECT count(*) FROM ended_sessions"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks for ended sessions again and again."""
    monkeypatch.setattr(ended_facts, "POLL_EVERY_S", 0.001)
    monkeypatch.setattr(ended_facts, "RETRY_EVERY_S", 0.001)


async def end_sessions(wallet: InProcessWallet, *player_ids: str) -> None:
    await wallet.open_table("t1", MULTI_PLAYER)
    seats: list[Seat] = [await wallet.sit_down(player_id, "t1") for player_id in player_ids]
    for seat in seats:
        await wallet.end_session(seat)


async def ended_facts_of(wallet: InProcessWallet, player_id: str) -> int:
    return (await wallet.fact_names(player_id)).count("ended")


async def nobody_waits(wallet: InProcessWallet) -> None:
    async with asyncio.timeout(60):
        # The task that tells players has no event to wait for.
        while await wallet.count(WAITING):
            await asyncio.sleep(0.001)


@pytest.mark.rule("804/2015:26")
@pytest.mark.guarantee("G11")
async def test_g11_players_of_more_sessions_than_one_transaction_takes_are_told_without_a_pause(
    wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended_facts, "SESSIONS_LIMIT", 2)
    # Longer than the test waits: the second transaction follows the first one at once.
    monkeypatch.setattr(ended_facts, "POLL_EVERY_S", 3600)
    await end_sessions(wallet, "ana", "rui", "eva")
    telling = asyncio.create_task(wallet.ended_facts.run())
    await nobody_waits(wallet)
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    assert [await ended_facts_of(wallet, player_id) for player_id in ("ana", "rui", "eva")] == [1, 1, 1]


@pytest.mark.rule("804/2015:26")
async def test_a_player_is_told_once_when_the_database_is_well_again(
    wallet: InProcessWallet, wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    await end_sessions(wallet, "ana")
    owner = postgresql.connect(wallet_database.owner_url, "owner", 1)
    async with owner.begin() as connection:
        await connection.execute(text("ALTER TABLE ended_sessions RENAME TO away"))
    telling = asyncio.create_task(wallet.ended_facts.run())
    async with asyncio.timeout(60):
        while "players could not be told that their sessions have ended" not in caplog.text:
            await asyncio.sleep(0.001)
    async with owner.begin() as connection:
        await connection.execute(text("ALTER TABLE away RENAME TO ended_sessions"))
    await owner.dispose()
    await nobody_waits(wallet)
    assert not telling.done()
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    assert await ended_facts_of(wallet, "ana") == 1
