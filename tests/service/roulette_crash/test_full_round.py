"""Players who bet up to the limit of a round: their round ends like any other, and so do the others'."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.rpc.status import error_info, status_of
from services.kit.table.banked.limits import STAKES_PER_PLAYER_MAX
from tests.processes.roulette import RouletteClient, RouletteProcess, configuration
from tests.processes.wallet import WalletClient
from tests.service.roulette_crash.games import ROULETTE
from tests.service.roulette_crash.processes import Processes, temporary_folder

INDIVIDUAL_TABLE = "solo"
STARTING_CENTS = 10_000_000
TIMEOUT_S = 240.0
CONCURRENT_CALLS = 40


@dataclass(frozen=True)
class TwoReplicas:
    """Two replicas, one of which owns the table."""

    processes: Processes
    clients: dict[str, RouletteClient]
    wallet: WalletClient

    async def enter_at_owner(self, player_id: str) -> tuple[str, str, str]:
        """Enters at the owner as soon as there is one; the replica, the player's table and its round."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                for name, client in self.clients.items():
                    try:
                        entered = (await client.enter(player_id, INDIVIDUAL_TABLE)).table
                    except grpc.aio.AioRpcError:
                        continue
                    return name, entered.table_id, entered.round.round_id
                await asyncio.sleep(0.05)

    async def balance(self, account_id: str) -> tuple[int, int]:
        """Free and locked."""
        balance = await self.wallet.balance(account_id)
        return balance.free_cents, balance.locked_cents

    async def stakes(self, round_id: str) -> dict[str, int]:
        """The number of stakes in each state, from the ledger."""
        request = wallet_pb2.GetRoundRequest(round_id=round_id)
        found: dict[str, int] = {}
        while True:
            page = await self.wallet.wallet.GetRound(request, metadata=self.wallet.operator)
            for stake in page.round.stakes:
                state = wallet_types.StakeState.Name(stake.state)
                found[state] = found.get(state, 0) + 1
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token


@asynccontextmanager
async def two_replicas(seed_database: Path) -> AsyncIterator[TwoReplicas]:
    tables = {INDIVIDUAL_TABLE: configuration(play=wallet_types.PLAY_INDIVIDUAL, minimum_cents=100)}
    with temporary_folder() as home:
        processes = Processes(home, ROULETTE, tables, seed_database)
        try:
            async with processes.running(), AsyncExitStack() as stack:
                clients = {
                    f"roulette-{number}": await stack.enter_async_context(cast("RouletteProcess", replica).client())
                    for number, replica in enumerate(processes.replicas)
                }
                wallet = await stack.enter_async_context(processes.wallet.client())
                yield TwoReplicas(processes, clients, wallet)
        except BaseException:
            print(processes.logs())
            raise


async def minimum_bets(client: RouletteClient, player_id: str, table_id: str) -> dict[str, int]:
    """The minimum at every place of the layout."""
    layout = await client.roulette.GetLayout(
        roulette_pb2.GetLayoutRequest(table_id=table_id), metadata=client.player(player_id)
    )
    return {place.place: place.minimum_cents for place in layout.places}


async def answer_of(bet: Awaitable[roulette_pb2.PlaceBetsResponse]) -> str:
    """The reason of a refusal; empty for a bet that counts."""
    try:
        await bet
    except grpc.aio.AioRpcError as refused:
        status = status_of(refused)
        info = None if status is None else error_info(status)
        if info is None:
            raise
        return str(info.reason)
    return ""


@pytest.mark.slow
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
@pytest.mark.guarantee("G11")
async def test_g9_bets_placed_and_cancelled_up_to_the_limit_harm_no_other_player(seed_database: Path) -> None:
    async with two_replicas(seed_database) as replicas:
        mallory, ana = [await replicas.wallet.open_account(name, STARTING_CENTS) for name in ("mallory", "ana")]
        name, table_id, round_id = await replicas.enter_at_owner("mallory")
        client = replicas.clients[name]
        bets = await minimum_bets(client, "mallory", table_id)
        placed = 0
        while not (refused := await answer_of(client.bet("mallory", table_id, round_id, bets))):
            placed += 1
            cancel = roulette_pb2.CancelBetsRequest(
                request_id=f"cancel-{placed}", table_id=table_id, round_id=round_id, bets=[]
            )
            await client.roulette.CancelBets(cancel, metadata=client.player("mallory"))
        assert refused == "TOO_MANY_BETS"
        # A small bet still fits, and lies on the felt when the process is killed.
        await client.bet("mallory", table_id, round_id, {"red": 100})
        assert await replicas.balance(mallory) == (STARTING_CENTS - 100, 100)
        _, other_table, other_round = await replicas.enter_at_owner("ana")
        await client.bet("ana", other_table, other_round, {"black": 500})

        replicas.processes.kill(name)
        # The new owner ends both rounds before a player enters.
        name, other_table, next_round = await replicas.enter_at_owner("ana")
        client = replicas.clients[name]
        assert await replicas.balance(ana) == (STARTING_CENTS, 0)
        assert await replicas.balance(mallory) == (STARTING_CENTS, 0)
        assert await replicas.stakes(round_id) == {"STAKE_STATE_CANCELLED": placed, "STAKE_STATE_RETURNED": 1}
        await client.bet("ana", other_table, next_round, {"black": 500})
        assert (await client.spin("ana", other_table, next_round)).HasField("outcome")
        rounds = (await client.rounds("mallory")).rounds
        assert [(len(one.stakes), len(one.cancelled_stakes)) for one in rounds] == [(1, placed)]
        replayed = await client.replay(round_id)
        assert (list(replayed.differences), len(replayed.cancelled_stakes)) == ([], placed)


@pytest.mark.slow
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_as_many_bets_as_one_player_may_place_are_paid(seed_database: Path) -> None:
    async with two_replicas(seed_database) as replicas:
        account = await replicas.wallet.open_account("mallory", STARTING_CENTS)
        name, table_id, round_id = await replicas.enter_at_owner("mallory")
        client = replicas.clients[name]
        places = list(await minimum_bets(client, "mallory", table_id))
        at_once = asyncio.Semaphore(CONCURRENT_CALLS)

        async def bet(number: int) -> str:
            async with at_once:
                place = places[number % len(places)]
                return await answer_of(client.bet("mallory", table_id, round_id, {place: 100}))

        answers = await asyncio.gather(*(bet(number) for number in range(STAKES_PER_PLAYER_MAX)))
        assert set(answers) == {""}
        assert await bet(STAKES_PER_PLAYER_MAX) == "TOO_MANY_BETS"
        # While they are on the felt, the ledger lists them in pages.
        (in_play,) = (await client.rounds("mallory", include_taking_bets=True)).rounds
        assert len({stake.stake_id for stake in in_play.stakes}) == STAKES_PER_PLAYER_MAX
        result = await client.spin("mallory", table_id, round_id)
        assert (result.staked_cents, len(result.results.results)) == (
            100 * STAKES_PER_PLAYER_MAX,
            STAKES_PER_PLAYER_MAX,
        )
        assert await replicas.balance(account) == (STARTING_CENTS - result.staked_cents + result.payout_cents, 0)
        assert await replicas.stakes(round_id) == {"STAKE_STATE_SETTLED": STAKES_PER_PLAYER_MAX}
        (player_round,) = (await client.rounds("mallory")).rounds
        assert len(player_round.stakes) == STAKES_PER_PLAYER_MAX
        replayed = await client.replay(round_id)
        assert (list(replayed.differences), len(replayed.stakes)) == ([], STAKES_PER_PLAYER_MAX)
