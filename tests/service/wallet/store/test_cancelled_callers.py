"""Callers who go away while they wait: nothing of theirs is written, and they take no room in their lane."""

from __future__ import annotations

import asyncio

from services.wallet.ledger.commands import Command, Deposit
from services.wallet.model.state import RelevantEventLimits
from services.wallet.store import group_commit, ledger_store
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import InProcessWallet, open_wallet


def _deposits(account_id: str, count: int) -> list[Command]:
    return [Deposit(f"d-{account_id}-{number}", b"", "test", account_id, 100, "") for number in range(count)]


def _lane(desk: InProcessWallet) -> group_commit.Lane:
    return group_commit.Lane(
        "test",
        desk.engine,
        ledger_store.LedgerStore(desk.clock, desk.session_clock, RelevantEventLimits()),
        lambda: None,
    )


async def _gone(lane: group_commit.Lane, commands: list[Command]) -> None:
    waiting = asyncio.create_task(lane.submit(commands))
    while not lane.pending_commands:
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_lane_that_everybody_has_left_is_empty(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as desk:
        account_id = await desk.open_account("ana")
        lane = _lane(desk)
        await _gone(lane, _deposits(account_id, group_commit.BUSY_LANE_COMMANDS))
        running = asyncio.create_task(lane.run())
        async with asyncio.timeout(10):
            while lane.pending_commands:
                await asyncio.sleep(0)
        # It goes on for whoever comes then.
        (kept,) = await lane.submit(_deposits(account_id, 1))
        assert not kept.refused
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_whoever_stays_is_written_alone(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as desk:
        gone, stays = [await desk.open_account(player) for player in ("ana", "bea")]
        lane = _lane(desk)
        await _gone(lane, _deposits(gone, group_commit.GROUP_COMMANDS_LIMIT))
        staying = asyncio.create_task(lane.submit(_deposits(stays, 2)))
        while lane.pending_commands < group_commit.GROUP_COMMANDS_LIMIT + 2:
            await asyncio.sleep(0)
        group = lane._next_group()
        assert [command.request_id for part in group for command in part.commands] == [f"d-{stays}-0", f"d-{stays}-1"]
        assert lane.pending_commands == 2
        staying.cancel()
        await asyncio.gather(staying, return_exceptions=True)
