"""Players who bet without end at a table of their own: their round ends like any other, and nobody else's does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.rpc.status import error_info, status_of
from services.kit.table.banked.limits import STAKES_PER_PLAYER_MAX
from tests.processes.roulette import RouletteClient, configuration
from tests.processes.wallet import WalletClient
from tests.service.roulette_crash.processes import Processes, temporary_folder

INDIVIDUAL_TABLE = "solo"
STARTING_CENTS = 10_000_000
TIMEOUT_S = 60.0
CONCURRENT_CALLS = 40


@dataclass(frozen=True)
class TwoReplicas:
    """Two replicas, of which one runs the house."""

    processes: Processes
    clients: dict[str, RouletteClient]
    wallet: WalletClient

    async def enter_at_owner(self, player_id: str) -> tuple[str, str, str]:
        """Sits down as soon as anybody runs the house; the replica, the player's table and its round."""
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
        """How many there are in each state, as the ledger shows them."""
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
async def two_replicas() -> AsyncIterator[TwoReplicas]:
    tables = {INDIVIDUAL_TABLE: configuration(play=wallet_types.PLAY_INDIVIDUAL, minimum_cents=100)}
    with temporary_folder() as home:
        machines = Processes(home, tables)
        try:
            async with machines.running(), AsyncExitStack() as stack:
                clients = {
                    f"roulette-{number}": await stack.enter_async_context(replica.client())
                    for number, replica in enumerate(machines.replicas)
                }
                wallet = await stack.enter_async_context(machines.wallet.client())
                yield TwoReplicas(machines, clients, wallet)
        except BaseException:
            print(machines.logs())
            raise


async def everywhere(client: RouletteClient, player_id: str, table_id: str) -> dict[str, int]:
    layout = await client.roulette.GetLayout(
        roulette_pb2.GetLayoutRequest(table_id=table_id), metadata=client.player(player_id)
    )
    return {place.place: place.minimum_cents for place in layout.places}


async def answer_of(bet: Awaitable[roulette_pb2.PlaceBetsResponse]) -> str:
    """The reason of a refusal; the empty word for a bet that counts."""
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
async def test_g9_bets_placed_and_taken_back_without_end_take_no_house_from_anybody() -> None:
    async with two_replicas() as here:
        mallory, ana = [await here.wallet.open_account(name, STARTING_CENTS) for name in ("mallory", "ana")]
        name, table_id, round_id = await here.enter_at_owner("mallory")
        client = here.clients[name]
        bets = await everywhere(client, "mallory", table_id)
        placed = 0
        while not (refused := await answer_of(client.bet("mallory", table_id, round_id, bets))):
            placed += 1
            back = roulette_pb2.CancelBetsRequest(
                request_id=f"back-{placed}", table_id=table_id, round_id=round_id, bets=[]
            )
            await client.roulette.CancelBets(back, metadata=client.player("mallory"))
        assert refused == "TOO_MANY_BETS"
        # A few more words still fit, and lie there when the process dies.
        await client.bet("mallory", table_id, round_id, {"red": 100})
        assert await here.balance(mallory) == (STARTING_CENTS - 100, 100)
        _, other_table, other_round = await here.enter_at_owner("ana")
        await client.bet("ana", other_table, other_round, {"black": 500})

        here.processes.kill(name)
        # Whoever takes the house over has ended both rounds before anybody sits down there again.
        name, other_table, next_round = await here.enter_at_owner("ana")
        client = here.clients[name]
        assert await here.balance(ana) == (STARTING_CENTS, 0)
        assert await here.balance(mallory) == (STARTING_CENTS, 0)
        assert await here.stakes(round_id) == {"STAKE_STATE_CANCELLED": placed, "STAKE_STATE_RETURNED": 1}
        await client.bet("ana", other_table, next_round, {"black": 500})
        assert (await client.spin("ana", other_table, next_round)).HasField("outcome")
        rounds = (await client.rounds("mallory")).rounds
        assert [(len(one.stakes), len(one.cancelled_stakes)) for one in rounds] == [(1, placed)]
        replayed = await client.replay(round_id)
        assert (list(replayed.differences), len(replayed.cancelled_stakes)) == ([], placed)


@pytest.mark.slow
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_as_many_bets_as_one_player_may_place_are_paid() -> None:
    async with two_replicas() as here:
        account = await here.wallet.open_account("mallory", STARTING_CENTS)
        name, table_id, round_id = await here.enter_at_owner("mallory")
        client = here.clients[name]
        places = list(await everywhere(client, "mallory", table_id))
        at_once = asyncio.Semaphore(CONCURRENT_CALLS)

        async def bet(number: int) -> str:
            async with at_once:
                place = places[number % len(places)]
                return await answer_of(client.bet("mallory", table_id, round_id, {place: 100}))

        answers = await asyncio.gather(*(bet(number) for number in range(STAKES_PER_PLAYER_MAX)))
        assert set(answers) == {""}
        assert await bet(STAKES_PER_PLAYER_MAX) == "TOO_MANY_BETS"
        # While they lie there, the ledger tells of them in pages.
        (in_play,) = (await client.rounds("mallory", include_open=True)).rounds
        assert len({stake.stake_id for stake in in_play.stakes}) == STAKES_PER_PLAYER_MAX
        result = await client.spin("mallory", table_id, round_id)
        assert (result.staked_cents, len(result.results.results)) == (
            100 * STAKES_PER_PLAYER_MAX,
            STAKES_PER_PLAYER_MAX,
        )
        assert await here.balance(account) == (STARTING_CENTS - result.staked_cents + result.payout_cents, 0)
        assert await here.stakes(round_id) == {"STAKE_STATE_SETTLED": STAKES_PER_PLAYER_MAX}
        (lived,) = (await client.rounds("mallory")).rounds
        assert len(lived.stakes) == STAKES_PER_PLAYER_MAX
        replayed = await client.replay(round_id)
        assert (list(replayed.differences), len(replayed.stakes)) == ([], STAKES_PER_PLAYER_MAX)
