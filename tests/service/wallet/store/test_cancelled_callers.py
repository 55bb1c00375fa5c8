"""A lane leaves out the commands of callers who gave up, and answers every other one, also when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.commands import Command, Deposit
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import RelevantEventLimits
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.group_commit import GROUP_COMMANDS_LIMIT, Lane
from services.wallet.store.ledger_store import LedgerStore
from tests.service.wallet.in_process_wallet import InProcessWallet


class GatedStore(LedgerStore):
    """Records every group, and writes it when the gate opens."""

    def __init__(self, wallet: InProcessWallet) -> None:
        super().__init__(wallet.clock, wallet.session_clock, RelevantEventLimits())
        self.gate = asyncio.Event()
        self.groups: list[list[str]] = []
        self.group_arrived = asyncio.Event()

    async def write(self, connection: DirectConnection, commands: Sequence[Command]) -> list[StoredAnswer]:
        self.groups.append([command.request_id for command in commands])
        self.group_arrived.set()
        await self.gate.wait()
        return await super().write(connection, commands)


@pytest_asyncio.fixture
async def store(wallet: InProcessWallet) -> GatedStore:
    return GatedStore(wallet)


@pytest_asyncio.fixture
async def lane(wallet: InProcessWallet, store: GatedStore) -> AsyncIterator[Lane]:
    lane = Lane("test", wallet.engine, store, lambda: None)
    running = asyncio.create_task(lane.run())
    yield lane
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def deposits(account_id: str, count: int) -> list[Command]:
    return [Deposit(f"{account_id}-{number}", b"", "test", account_id, 100, "") for number in range(count)]


async def submit(lane: Lane, commands: list[Command]) -> asyncio.Task[list[StoredAnswer]]:
    """Submits commands, and returns when the lane has them."""
    before = lane.pending_commands
    waiting = asyncio.create_task(lane.submit(commands))
    while lane.pending_commands == before:
        await asyncio.sleep(0)
    return waiting


async def give_up(waiting: asyncio.Task[list[StoredAnswer]]) -> None:
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_only_the_commands_of_callers_who_stay_are_written(
    wallet: InProcessWallet, store: GatedStore, lane: Lane
) -> None:
    ana, bea, rui = [await wallet.open_account(player) for player in ("ana", "bea", "rui")]
    first = await submit(lane, deposits(ana, 1))
    await store.group_arrived.wait()
    abandoned = await submit(lane, deposits(bea, GROUP_COMMANDS_LIMIT))
    staying = await submit(lane, deposits(rui, 2))
    await give_up(abandoned)
    store.gate.set()

    assert [len(answers) for answers in await asyncio.gather(first, staying)] == [1, 2]
    assert store.groups == [[f"{ana}-0"], [f"{rui}-0", f"{rui}-1"]]
    assert lane.pending_commands == 0


async def test_a_lane_that_all_callers_have_left_is_empty_and_takes_the_next_command(
    wallet: InProcessWallet, store: GatedStore, lane: Lane
) -> None:
    account_id = await wallet.open_account("ana")
    under_way = await submit(lane, deposits(account_id, 1))
    await store.group_arrived.wait()
    await give_up(await submit(lane, deposits(account_id, 200)))
    await give_up(under_way)
    store.gate.set()
    while lane.pending_commands:
        await asyncio.sleep(0)

    (answer,) = await lane.submit(deposits(account_id, 1))
    assert not answer.refused


@pytest.mark.guarantee("G12")
async def test_g12_a_lane_that_stops_refuses_the_commands_under_way_and_those_that_wait(
    wallet: InProcessWallet, store: GatedStore
) -> None:
    account_id = await wallet.open_account("ana")
    lane = Lane("stops", wallet.engine, store, lambda: None)
    running = asyncio.create_task(lane.run())
    under_way = await submit(lane, deposits(account_id, 1))
    await store.group_arrived.wait()
    waiting = await submit(lane, deposits(account_id, 2))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    for submission in (under_way, waiting, asyncio.create_task(lane.submit(deposits(account_id, 3)))):
        with pytest.raises(WalletRefused) as refused:
            await submission
        assert refused.value.reason == "UNAVAILABLE"
