"""A round accepts stakes up to its limits, and a full one can be ended, listed and read back (G4, G11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import grpc
import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import text

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKE_LIMIT_CENTS, STAKES_LIMIT
from services.kit.rpc.server import MESSAGE_BYTES_LIMIT
from services.kit.rpc.status import error_info
from services.wallet.server import wallet_service
from services.wallet.server.fields import REQUEST_ID_CHARACTERS_LIMIT
from services.wallet.server.wallet_service import (
    ORDERS_LIMIT,
    OUTCOME_BYTES_LIMIT,
    PAYOUT_LIMIT_CENTS,
    REPORT_SESSIONS_LIMIT,
    STAKE_DETAIL_BYTES_LIMIT,
)
from services.wallet.store import queries
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import Seat, WalletClient, refusal_facts, refusal_reason
from tests.service.wallet.in_process_wallet import GAME, MULTI_PLAYER, InProcessWallet, open_wallet, round_ref
from tests.service.wallet.in_process_wallet import Seat as InProcessSeat
from tests.service.wallet.store.test_migrations import WRITTEN_AT, migrated_to
from tests.service.wallet.store.test_write_cache import placed_while

OPEN, CANCELLED, SETTLED, RETURNED = (
    types_pb2.STAKE_STATE_OPEN,
    types_pb2.STAKE_STATE_CANCELLED,
    types_pb2.STAKE_STATE_SETTLED,
    types_pb2.STAKE_STATE_RETURNED,
)
CANCELLED_COUNT = 3


def order(seat: Seat | InProcessSeat, number: int, detail: bytes = b"red", cents: int = 1) -> wallet_pb2.StakeOrder:
    return wallet_pb2.StakeOrder(
        request_id=f"t1:{number}",
        account_id=seat.account_id,
        session_id=seat.session_id,
        amount_cents=cents,
        detail=detail,
    )


async def place_all(
    wallet_client: WalletClient, round_: types_pb2.RoundRef, orders: Sequence[wallet_pb2.StakeOrder], together: int
) -> list[wallet_pb2.StakeAnswer]:
    answers: list[wallet_pb2.StakeAnswer] = []
    for first in range(0, len(orders), together):
        request = wallet_pb2.PlaceStakesRequest(round=round_, orders=orders[first : first + together])
        answers += (await wallet_client.wallet.PlaceStakes(request, metadata=wallet_client.game)).answers
    return answers


async def fill(wallet_client: WalletClient, seats: Sequence[Seat], round_: types_pb2.RoundRef) -> None:
    """Places as many stakes as a round may hold, by all seats in turn; a few of them are cancelled."""
    orders = [order(seats[number % len(seats)], number) for number in range(STAKES_LIMIT)]
    early, late = orders[:CANCELLED_COUNT], orders[CANCELLED_COUNT:]
    assert all(answer.HasField("placed") for answer in await place_all(wallet_client, round_, early, ORDERS_LIMIT))
    for stake in early:
        cancel = wallet_pb2.CancelStakesRequest(
            request_id=f"{stake.request_id}:back",
            round=round_,
            account_id=stake.account_id,
            stakes=[wallet_pb2.StakeToCancel(stake_id=stake.request_id)],
        )
        await wallet_client.wallet.CancelStakes(cancel, metadata=wallet_client.game)
    assert all(answer.HasField("placed") for answer in await place_all(wallet_client, round_, late, ORDERS_LIMIT))


async def read_round(wallet_client: WalletClient, round_id: str) -> wallet_pb2.Round:
    """Reads a round, page by page."""
    request = wallet_pb2.GetRoundRequest(round_id=round_id)
    found = wallet_pb2.Round()
    while True:
        page = await wallet_client.wallet.GetRound(request, metadata=wallet_client.game)
        assert 0 < len(page.round.stakes) <= queries.STAKES_PAGE_SIZE
        stakes = [*found.stakes, *page.round.stakes]
        found.CopyFrom(page.round)
        del found.stakes[:]
        found.stakes.extend(stakes)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def verify_one_more_refused(
    wallet_client: WalletClient, round_: types_pb2.RoundRef, seat: Seat, field: str, limit: int
) -> None:
    """Verifies that one more stake is refused however often it is sent, that nothing moves, and that its id is used."""
    before = await wallet_client.balance(seat.account_id)
    for _ in range(2):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet_client.place(seat, round_, 1, "one-more")
        assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        facts = {"round_id": round_.round_id, "field": field, "limit": str(limit)}
        assert refusal_facts(refused.value) == ("ROUND_FULL", facts)
    assert await wallet_client.balance(seat.account_id) == before
    # The refusal is stored as the answer to this request id.
    with pytest.raises(grpc.aio.AioRpcError) as reused:
        await wallet_client.place(seat, round_, 2, "one-more")
    assert refusal_reason(reused.value) == "REQUEST_REUSED"


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_a_full_round_accepts_no_more_and_is_settled(
    wallet_client: WalletClient, wallet_database: WalletDatabase
) -> None:
    table = await wallet_client.open_table("t1")
    seats = await wallet_client.sit_down_all([f"p{number}" for number in range(50)], "t1", 1_000)
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    await fill(wallet_client, seats, round_)
    await verify_one_more_refused(wallet_client, round_, seats[0], "stakes", STAKES_LIMIT)

    found = await read_round(wallet_client, "full")
    assert [stake.stake_id for stake in found.stakes] == [f"t1:{number}" for number in range(STAKES_LIMIT)]
    in_play = [stake.stake_id for stake in found.stakes if stake.state == OPEN]
    assert len(in_play) == STAKES_LIMIT - CANCELLED_COUNT
    payouts = [wallet_pb2.StakePayout(stake_id=stake, payout_cents=2) for stake in in_play]
    request = wallet_pb2.SettleRoundRequest(request_id="settle", round=round_, payouts=payouts, outcome=b"17 black")
    settled = await wallet_client.wallet.SettleRound(request, metadata=wallet_client.game)
    assert sum(result.payout_cents for result in settled.results) == 2 * len(in_play)
    # A repeated settlement gets the same answer, however long.
    assert await wallet_client.wallet.SettleRound(request, metadata=wallet_client.game) == settled

    found = await read_round(wallet_client, "full")
    assert found.outcome == b"17 black"
    assert [stake.state for stake in found.stakes] == [CANCELLED] * CANCELLED_COUNT + [SETTLED] * len(in_play)
    # A player's pages hold only the player's own stakes.
    mine = await wallet_client.wallet.GetRound(
        wallet_pb2.GetRoundRequest(round_id="full", page_size=100), metadata=wallet_client.bearer("player", "p7")
    )
    assert {stake.account_id for stake in mine.round.stakes} == {seats[7].account_id}
    assert (len(mine.round.stakes), bool(mine.next_page_token)) == (100, True)
    balance = await wallet_client.balance(seats[7].account_id)
    assert (balance.free_cents, balance.locked_cents) == (1_000 + STAKES_LIMIT // 50, 0)
    async with open_wallet(wallet_database.url) as wallet:
        assert await wallet.violations() == []


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_a_full_round_is_listed_and_voided(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    await wallet_client.open_table("t2")
    seats = await wallet_client.sit_down_all([f"p{number}" for number in range(4)], "t1", STAKES_LIMIT)
    other = await wallet_client.sit_down("p0", "t2")
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    await fill(wallet_client, seats, round_)
    later = types_pb2.RoundRef(round_id="later", table=types_pb2.TableRef(table_id="t2", epoch=1))
    await wallet_client.place(other, later, 5)

    for request, expected in (
        (wallet_pb2.ListOpenRoundsRequest(table_id="t1"), {"full": STAKES_LIMIT}),
        (wallet_pb2.ListOpenRoundsRequest(account_id=other.account_id), {"full": STAKES_LIMIT // 4, "later": 1}),
    ):
        listed: dict[str, list[str]] = {}
        while True:
            page = await wallet_client.wallet.ListOpenRounds(request, metadata=wallet_client.operator)
            assert sum(len(shown.stakes) for shown in page.rounds) <= queries.STAKES_PAGE_SIZE
            for shown in page.rounds:
                listed.setdefault(shown.round_id, []).extend(stake.stake_id for stake in shown.stakes)
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        assert {round_id: len(set(stakes)) for round_id, stakes in listed.items()} == expected
        assert {round_id: len(stakes) for round_id, stakes in listed.items()} == expected

    void = wallet_pb2.VoidRoundRequest(request_id="void", round=round_, reason="the wheel broke down")
    answer = await wallet_client.wallet.VoidRound(void, metadata=wallet_client.game)
    assert sum(result.payout_cents for result in answer.results) == STAKES_LIMIT - CANCELLED_COUNT
    found = await read_round(wallet_client, "full")
    assert [stake.state for stake in found.stakes] == [CANCELLED] * CANCELLED_COUNT + [RETURNED] * (
        STAKES_LIMIT - CANCELLED_COUNT
    )
    for seat in seats[1:]:
        assert (await wallet_client.balance(seat.account_id)).free_cents == STAKES_LIMIT


@pytest.mark.guarantee("G11")
async def test_g11_the_details_of_a_round_are_limited_in_bytes(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 10_000)
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    orders = [
        order(ana, number, b"x" * STAKE_DETAIL_BYTES_LIMIT)
        for number in range(DETAIL_BYTES_LIMIT // STAKE_DETAIL_BYTES_LIMIT)
    ]
    answers = await place_all(wallet_client, round_, orders, together=500)
    assert all(answer.HasField("placed") for answer in answers)
    await verify_one_more_refused(wallet_client, round_, ana, "detail", DETAIL_BYTES_LIMIT)
    # A stake without detail still fits, whatever else its call brings.
    mixed = [order(ana, 9_001, b""), order(ana, 9_002, b"x"), order(ana, 9_003, b"")]
    assert [a.WhichOneof("answer") for a in await place_all(wallet_client, round_, mixed, 3)] == [
        "placed",
        "refused",
        "placed",
    ]
    found = await read_round(wallet_client, "full")
    assert sum(len(stake.detail) for stake in found.stakes) == DETAIL_BYTES_LIMIT
    assert len(found.stakes) == len(orders) + 2


@pytest.mark.guarantee("G11")
async def test_g11_a_page_of_stakes_beyond_the_limit_is_refused(wallet_client: WalletClient) -> None:
    for request in (
        wallet_pb2.GetRoundRequest(round_id="none", page_size=501),
        wallet_pb2.GetRoundRequest(round_id="none", page_token="x"),  # noqa: S106 - a place in a list
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet_client.wallet.GetRound(request, metadata=wallet_client.operator)
        assert refusal_reason(refused.value) == "INVALID"


# -- concurrent writers ----------------------------------------------------------------------------------------------


async def verified_totals(wallet: InProcessWallet) -> tuple[int, int]:
    """Returns the totals of the round, after comparing them with its stakes."""
    statement = """
        SELECT rounds.stakes_placed, rounds.detail_bytes, count(*), sum(length(stakes.detail))
        FROM rounds JOIN stakes USING (round_no) GROUP BY round_no
    """
    async with wallet.engine.connect() as connection:
        stakes, detail_bytes, placed, length = (await connection.execute(text(statement))).one()
    assert (stakes, detail_bytes) == (placed, length)
    return stakes, detail_bytes


async def reasons(wallet: InProcessWallet, orders: Sequence[wallet_pb2.StakeOrder]) -> list[str]:
    request = wallet_pb2.PlaceStakesRequest(round=round_ref("t1", "r1"), orders=orders)
    answers = wallet_pb2.PlaceStakesResponse.FromString(await wallet.wallet_service.place_stakes(request, GAME)).answers
    infos = [error_info(answer.refused) if answer.HasField("refused") else None for answer in answers]
    return ["" if info is None else info.reason for info in infos]


@pytest.fixture
def small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits rounds to ten stakes and a hundred bytes."""
    for module in ("services.wallet.ledger.rounds", "services.wallet.store.optimistic_stakes"):
        monkeypatch.setattr(f"{module}.STAKES_LIMIT", 10)
        monkeypatch.setattr(f"{module}.DETAIL_BYTES_LIMIT", 100)


@pytest.mark.guarantee("G11")
@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize(("detail", "fits"), [(b"x", 10), (b"x" * 14, 7)])
async def test_g11_replicas_that_cache_a_round_place_together_no_more_than_it_holds(
    first_replica: InProcessWallet, second_replica: InProcessWallet, detail: bytes, fits: int
) -> None:
    await first_replica.open_table("t1", MULTI_PLAYER)
    # A player for each replica, so that only the round shows one the other's stakes.
    ana, bea = await first_replica.sit_down("ana", "t1"), await second_replica.sit_down("bea", "t1")
    orders = {
        first_replica: [order(ana, n, detail) for n in range(0, 40, 2)],
        second_replica: [order(bea, n, detail) for n in range(1, 40, 2)],
    }
    results: list[str] = []
    for turn in range(3):
        for wallet, waiting in orders.items():
            results += await reasons(wallet, waiting[2 * turn : 2 * turn + 2])
    assert results.count("") == min(12, fits)
    # At once, and more than fit.
    for late in await asyncio.gather(*(reasons(wallet, waiting[6:]) for wallet, waiting in orders.items())):
        results += late
    assert (results.count(""), results.count("ROUND_FULL")) == (fits, 40 - fits)
    assert await verified_totals(first_replica) == (fits, fits * len(detail))
    # A refusal decided with cached rows is stored, too.
    assert await reasons(first_replica, orders[first_replica][6:]) == ["ROUND_FULL"] * 14


@pytest.mark.guarantee("G11")
async def test_g11_a_round_that_is_filled_while_a_stake_is_blocked_refuses_it(first_replica: InProcessWallet) -> None:
    filled = f"UPDATE rounds SET stakes_placed = {STAKES_LIMIT}"  # noqa: S608
    assert await placed_while(first_replica, "r1", filled) == "ROUND_FULL"


@pytest.mark.guarantee("G11")
@pytest.mark.usefixtures("small_rounds")
async def test_g11_cancelled_stakes_count(first_replica: InProcessWallet) -> None:
    await first_replica.open_table("t1", MULTI_PLAYER)
    ana = await first_replica.sit_down("ana", "t1")
    for _ in range(10):
        await first_replica.cancel(ana, "r1", await first_replica.place(ana, "r1", 100))
    assert await reasons(first_replica, [order(ana, 1)]) == ["ROUND_FULL"]
    assert await verified_totals(first_replica) == (10, 0)
    # The next round starts empty.
    await first_replica.settle("t1", "r1")
    await first_replica.place(ana, "r2", 100)


@pytest.mark.guarantee("G11")
async def test_g11_the_migration_counts_the_stakes_of_open_rounds(postgres: EmbeddedPostgres) -> None:
    async with migrated_to(postgres, "0004") as older:
        for number, state in ((1, 1), (2, 3), (3, 1)):
            await older.execute(
                "INSERT INTO rounds (round_no, round_id, table_no, state, opened_at, ended_at)"
                " VALUES (:no, :id, 1, :state, :at, :ended_at)",
                no=number,
                id=f"r{number}",
                state=state,
                at=WRITTEN_AT,
                ended_at=None if state == 1 else WRITTEN_AT,
            )
        for stake, round_no, detail, back in ((11, 1, b"red", 0), (12, 1, b"17", 5), (13, 2, b"black", 0)):
            await older.execute(
                "INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents,"
                " cancelled_cents, state, detail, placed_at)"
                " VALUES (:no, :id, :round_no, 1, 1, 5, :back, :state, :detail, :at)",
                no=stake,
                id=f"s{stake}",
                round_no=round_no,
                back=back,
                state=2 if back else 1,
                detail=detail,
                at=WRITTEN_AT,
            )
        await older.migrate("0005")
        async with older.owner.connect() as connection:
            rows = await connection.execute(
                text("SELECT round_id, stakes_placed, detail_bytes FROM rounds ORDER BY round_no")
            )
            assert [tuple(row) for row in rows] == [("r1", 2, 5), ("r2", 0, 0), ("r3", 0, 0)]


# -- message sizes ---------------------------------------------------------------------------------------------------

LONGEST_ID = "x" * REQUEST_ID_CHARACTERS_LIMIT
LONGEST_UUID = "x" * 36
ROUND = types_pb2.RoundRef(round_id=LONGEST_ID, table=types_pb2.TableRef(table_id="x" * 64, epoch=2**62))
HIGHEST = 2**62
NOW = Timestamp(seconds=2**34, nanos=999_999_999)


def _largest() -> list[Message]:
    """Returns the largest messages about a round, with the longest ids and amounts."""
    balance = types_pb2.Balance(
        account_id=LONGEST_UUID, mode=types_pb2.MODE_DEMO, free_cents=HIGHEST, locked_cents=HIGHEST, version=HIGHEST
    )
    result = wallet_pb2.AccountResult(
        account_id=LONGEST_UUID, staked_cents=HIGHEST, payout_cents=HIGHEST, balance=balance
    )
    ended = wallet_pb2.SessionsAfterRound(
        ended_session_ids=[LONGEST_UUID] * REPORT_SESSIONS_LIMIT, announce_next_round=True
    )
    stake = types_pb2.Stake(
        stake_id=LONGEST_ID,
        account_id=LONGEST_UUID,
        session_id=LONGEST_UUID,
        placed_cents=STAKE_LIMIT_CENTS,
        cancelled_cents=STAKE_LIMIT_CENTS,
        payout_cents=PAYOUT_LIMIT_CENTS,
        state=RETURNED,
        detail=b"x" * STAKE_DETAIL_BYTES_LIMIT,
        placed_at=NOW,
    )
    round_ = wallet_pb2.Round(
        round_id=LONGEST_ID,
        table_id="x" * 64,
        game="x" * 64,
        mode=types_pb2.MODE_DEMO,
        state=types_pb2.ROUND_STATE_VOID,
        opened_at=NOW,
        ended_at=NOW,
        void_reason="ã" * wallet_service.REASON_CHARACTERS_LIMIT,
    )
    shown = wallet_pb2.Round(outcome=b"x" * OUTCOME_BYTES_LIMIT, stakes=[stake] * queries.STAKES_PAGE_SIZE)
    shown.MergeFrom(round_)
    with_one_stake = wallet_pb2.Round(stakes=[stake])
    with_one_stake.MergeFrom(round_)
    line = wallet_pb2.SessionInRound(session_id=LONGEST_UUID, bet=True, excused=True, cave_below_minimum=True)
    payout = wallet_pb2.StakePayout(stake_id=LONGEST_ID, payout_cents=PAYOUT_LIMIT_CENTS)
    return [
        wallet_pb2.SettleRoundRequest(
            request_id=LONGEST_ID,
            round=ROUND,
            payouts=[payout] * STAKES_LIMIT,
            outcome=b"x" * OUTCOME_BYTES_LIMIT,
            report=wallet_pb2.RoundReport(sessions=[line] * REPORT_SESSIONS_LIMIT),
        ),
        wallet_pb2.SettleRoundResponse(
            transfer_id=HIGHEST, ended_at=NOW, results=[result] * STAKES_LIMIT, sessions=ended
        ),
        wallet_pb2.VoidRoundResponse(
            transfer_id=HIGHEST, ended_at=NOW, results=[result] * STAKES_LIMIT, sessions=ended
        ),
        wallet_pb2.GetRoundResponse(round=shown, next_page_token=LONGEST_ID),
        wallet_pb2.ListOpenRoundsResponse(
            rounds=[with_one_stake] * queries.STAKES_PAGE_SIZE, next_page_token=LONGEST_ID
        ),
    ]


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("message", _largest(), ids=lambda message: str(message.DESCRIPTOR.name))
def test_g11_the_largest_round_fits_into_each_message_about_it(message: Message) -> None:
    # A relayed answer travels in another message, which adds a few bytes.
    assert message.ByteSize() < MESSAGE_BYTES_LIMIT - 1024
