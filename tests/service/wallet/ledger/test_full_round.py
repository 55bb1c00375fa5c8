"""A round takes so much and no more, and whatever it has taken can be ended, listed and read back (G4, G11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import text

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.rpc.server import MESSAGE_BYTES_LIMIT
from services.kit.rpc.status import error_info
from services.wallet.audit.auditor import Auditor
from services.wallet.server import wallet_service
from services.wallet.server.fields import AMOUNT_LIMIT_CENTS
from services.wallet.server.wallet_service import (
    ORDERS_LIMIT,
    OUTCOME_BYTES_LIMIT,
    PAYOUT_LIMIT_CENTS,
    REPORT_SESSIONS_LIMIT,
)
from services.wallet.server.wallet_service import STAKE_DETAIL_BYTES_LIMIT as ONE_DETAIL
from services.wallet.store import queries
from services.wallet.store.answers import REQUEST_ID_CHARACTERS_LIMIT
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import Seat, WalletClient, refusal_facts, refusal_reason
from tests.service.wallet.in_process_wallet import GAME, MULTI_PLAYER, InProcessWallet, open_wallet, round_ref
from tests.service.wallet.in_process_wallet import Seat as DeskSeat
from tests.service.wallet.store.test_migrations import WRITTEN_AT, migrated_to
from tests.service.wallet.store.test_write_cache import placed_while

OPEN, CANCELLED, SETTLED, RETURNED = (
    types_pb2.STAKE_STATE_OPEN,
    types_pb2.STAKE_STATE_CANCELLED,
    types_pb2.STAKE_STATE_SETTLED,
    types_pb2.STAKE_STATE_RETURNED,
)
TAKEN_BACK = 3


def order(seat: Seat | DeskSeat, number: int, detail: bytes = b"red", cents: int = 1) -> wallet_pb2.StakeOrder:
    return wallet_pb2.StakeOrder(
        request_id=f"stake-{number}",
        account_id=seat.account_id,
        session_id=seat.session_id,
        amount_cents=cents,
        detail=detail,
    )


async def place_all(
    wallet: WalletClient, round_: types_pb2.RoundRef, orders: Sequence[wallet_pb2.StakeOrder], together: int
) -> list[wallet_pb2.StakeAnswer]:
    answers: list[wallet_pb2.StakeAnswer] = []
    for first in range(0, len(orders), together):
        request = wallet_pb2.PlaceStakesRequest(round=round_, orders=orders[first : first + together])
        answers += (await wallet.wallet.PlaceStakes(request, metadata=wallet.game)).answers
    return answers


async def fill(wallet: WalletClient, seats: Sequence[Seat], round_: types_pb2.RoundRef) -> None:
    """As many stakes as there may be, by all in turn; a few of them are taken back."""
    orders = [order(seats[number % len(seats)], number) for number in range(STAKES_LIMIT)]
    early, late = orders[:TAKEN_BACK], orders[TAKEN_BACK:]
    assert all(answer.HasField("placed") for answer in await place_all(wallet, round_, early, ORDERS_LIMIT))
    for stake in early:
        cancel = wallet_pb2.CancelStakeRequest(
            request_id=f"{stake.request_id}:back", round=round_, stake_id=stake.request_id
        )
        await wallet.wallet.CancelStake(cancel, metadata=wallet.game)
    assert all(answer.HasField("placed") for answer in await place_all(wallet, round_, late, ORDERS_LIMIT))


async def whole_round(wallet: WalletClient, round_id: str) -> wallet_pb2.Round:
    """Read as anybody would, page by page."""
    request = wallet_pb2.GetRoundRequest(round_id=round_id)
    found = wallet_pb2.Round()
    while True:
        page = await wallet.wallet.GetRound(request, metadata=wallet.game)
        assert 0 < len(page.round.stakes) <= queries.STAKES_PAGE_SIZE
        stakes = [*found.stakes, *page.round.stakes]
        found.CopyFrom(page.round)
        del found.stakes[:]
        found.stakes.extend(stakes)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def refused_one_more(
    wallet: WalletClient, round_: types_pb2.RoundRef, seat: Seat, field: str, limit: int
) -> None:
    """Nothing moves, for as often as it is asked, and a command that names the round anew is refused too."""
    before = await wallet.balance(seat.account_id)
    for _ in range(2):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet.place(seat, round_, 1, "one-more")
        assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        said = {"round_id": round_.round_id, "field": field, "limit": str(limit)}
        assert refusal_facts(refused.value) == ("ROUND_FULL", said)
    assert await wallet.balance(seat.account_id) == before
    # It is kept as the answer of this command: the id stands for it.
    with pytest.raises(grpc.aio.AioRpcError) as reused:
        await wallet.place(seat, round_, 2, "one-more")
    assert refusal_reason(reused.value) == "REQUEST_REUSED"


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_a_full_round_takes_no_more_and_is_settled(
    wallet: WalletClient, wallet_database: WalletDatabase
) -> None:
    table = await wallet.open_table("t1")
    seats = await wallet.sit_down_all([f"p{number}" for number in range(50)], "t1", 1_000)
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    await fill(wallet, seats, round_)
    await refused_one_more(wallet, round_, seats[0], "stakes", STAKES_LIMIT)

    found = await whole_round(wallet, "full")
    assert [stake.stake_id for stake in found.stakes] == [f"stake-{number}" for number in range(STAKES_LIMIT)]
    in_play = [stake.stake_id for stake in found.stakes if stake.state == OPEN]
    assert len(in_play) == STAKES_LIMIT - TAKEN_BACK
    payouts = [wallet_pb2.StakePayout(stake_id=stake, payout_cents=2) for stake in in_play]
    request = wallet_pb2.SettleRoundRequest(request_id="settle", round=round_, payouts=payouts, outcome=b"17 black")
    settled = await wallet.wallet.SettleRound(request, metadata=wallet.game)
    assert sum(result.payout_cents for result in settled.results) == 2 * len(in_play)
    # Whoever sends it again gets the same answer, as long as it is.
    assert await wallet.wallet.SettleRound(request, metadata=wallet.game) == settled

    found = await whole_round(wallet, "full")
    assert found.outcome == b"17 black"
    assert [stake.state for stake in found.stakes] == [CANCELLED] * TAKEN_BACK + [SETTLED] * len(in_play)
    # Stakes are on other pages for each player, and his alone.
    mine = await wallet.wallet.GetRound(
        wallet_pb2.GetRoundRequest(round_id="full", page_size=100), metadata=wallet.bearer("player", "p7")
    )
    assert {stake.account_id for stake in mine.round.stakes} == {seats[7].account_id}
    assert (len(mine.round.stakes), bool(mine.next_page_token)) == (100, True)
    balance = await wallet.balance(seats[7].account_id)
    assert (balance.free_cents, balance.locked_cents) == (1_000 + STAKES_LIMIT // 50, 0)
    async with open_wallet(wallet_database.url) as desk:
        violations: list[str] = []
        await Auditor(desk.engine).run(lambda _, sentence: violations.append(sentence))
        assert violations == []


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
async def test_g4_a_full_round_is_listed_and_void(wallet: WalletClient) -> None:
    table = await wallet.open_table("t1")
    await wallet.open_table("t2")
    seats = await wallet.sit_down_all([f"p{number}" for number in range(4)], "t1", STAKES_LIMIT)
    other = await wallet.sit_down("p0", "t2")
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    await fill(wallet, seats, round_)
    later = types_pb2.RoundRef(round_id="later", table=types_pb2.TableRef(table_id="t2", epoch=1))
    await wallet.place(other, later, 5)

    for request, expected in (
        (wallet_pb2.ListOpenRoundsRequest(table_id="t1"), {"full": STAKES_LIMIT}),
        (wallet_pb2.ListOpenRoundsRequest(account_id=other.account_id), {"full": STAKES_LIMIT // 4, "later": 1}),
    ):
        listed: dict[str, list[str]] = {}
        while True:
            page = await wallet.wallet.ListOpenRounds(request, metadata=wallet.operator)
            assert sum(len(shown.stakes) for shown in page.rounds) <= queries.STAKES_PAGE_SIZE
            for shown in page.rounds:
                listed.setdefault(shown.round_id, []).extend(stake.stake_id for stake in shown.stakes)
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        assert {round_id: len(set(stakes)) for round_id, stakes in listed.items()} == expected
        assert {round_id: len(stakes) for round_id, stakes in listed.items()} == expected

    void = wallet_pb2.VoidRoundRequest(request_id="void", round=round_, reason="the wheel broke down")
    answer = await wallet.wallet.VoidRound(void, metadata=wallet.game)
    assert sum(result.payout_cents for result in answer.results) == STAKES_LIMIT - TAKEN_BACK
    found = await whole_round(wallet, "full")
    assert [stake.state for stake in found.stakes] == [CANCELLED] * TAKEN_BACK + [RETURNED] * (
        STAKES_LIMIT - TAKEN_BACK
    )
    for seat in seats[1:]:
        assert (await wallet.balance(seat.account_id)).free_cents == STAKES_LIMIT


@pytest.mark.guarantee("G11")
async def test_g11_a_round_holds_so_many_bytes_of_details(wallet: WalletClient) -> None:
    table = await wallet.open_table("t1")
    ana = await wallet.sit_down("ana", "t1", 10_000)
    round_ = types_pb2.RoundRef(round_id="full", table=table)
    orders = [order(ana, number, b"x" * ONE_DETAIL) for number in range(DETAIL_BYTES_LIMIT // ONE_DETAIL)]
    answers = await place_all(wallet, round_, orders, together=500)
    assert all(answer.HasField("placed") for answer in answers)
    await refused_one_more(wallet, round_, ana, "detail", DETAIL_BYTES_LIMIT)
    # One without words still finds its place, and the others of its call are none of its business.
    mixed = [order(ana, 9_001, b""), order(ana, 9_002, b"x"), order(ana, 9_003, b"")]
    assert [a.WhichOneof("answer") for a in await place_all(wallet, round_, mixed, 3)] == [
        "placed",
        "refused",
        "placed",
    ]
    found = await whole_round(wallet, "full")
    assert sum(len(stake.detail) for stake in found.stakes) == DETAIL_BYTES_LIMIT
    assert len(found.stakes) == len(orders) + 2


@pytest.mark.guarantee("G11")
async def test_g11_a_page_of_stakes_is_never_more_than_is_asked_for(wallet: WalletClient) -> None:
    for request in (
        wallet_pb2.GetRoundRequest(round_id="none", page_size=501),
        wallet_pb2.GetRoundRequest(round_id="none", page_token="x"),  # noqa: S106 - a place in a list
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet.wallet.GetRound(request, metadata=wallet.operator)
        assert refusal_reason(refused.value) == "INVALID"


# -- others write too ------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def here(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as desk:
        yield desk


@pytest_asyncio.fixture
async def there(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """Another replica."""
    async with open_wallet(wallet_database.url) as desk:
        yield desk


async def counted(desk: InProcessWallet) -> tuple[int, int]:
    """What the round says of itself, which has to be what is there."""
    statement = """
        SELECT rounds.stakes_placed, rounds.detail_bytes, count(*), sum(length(stakes.detail))
        FROM rounds JOIN stakes USING (round_no) GROUP BY round_no
    """
    async with desk.engine.connect() as connection:
        stakes, detail_bytes, placed, length = (await connection.execute(text(statement))).one()
    assert (stakes, detail_bytes) == (placed, length)
    return stakes, detail_bytes


async def reasons(desk: InProcessWallet, orders: Sequence[wallet_pb2.StakeOrder]) -> list[str]:
    request = wallet_pb2.PlaceStakesRequest(round=round_ref("t1", "r1"), orders=orders)
    answers = wallet_pb2.PlaceStakesResponse.FromString(await desk.wallet.place_stakes(request, GAME)).answers
    infos = [error_info(answer.refused) if answer.HasField("refused") else None for answer in answers]
    return ["" if info is None else info.reason for info in infos]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of ten stakes and a hundred bytes."""
    for module in ("services.wallet.ledger.rounds", "services.wallet.store.optimistic_stakes"):
        monkeypatch.setattr(f"{module}.STAKES_LIMIT", 10)
        monkeypatch.setattr(f"{module}.DETAIL_BYTES_LIMIT", 100)


@pytest.mark.guarantee("G11")
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("detail", "fits"), [(b"x", 10), (b"x" * 14, 7)])
async def test_g11_replicas_that_remember_a_round_together_place_no_more_than_it_holds(
    here: InProcessWallet, there: InProcessWallet, detail: bytes, fits: int
) -> None:
    await here.open_table("t1", MULTI_PLAYER)
    # Each replica with a player of its own, so that nothing but the round tells one of the other's stakes.
    ana, bea = await here.sit_down("ana", "t1"), await there.sit_down("bea", "t1")
    orders = {
        here: [order(ana, n, detail) for n in range(0, 40, 2)],
        there: [order(bea, n, detail) for n in range(1, 40, 2)],
    }
    said: list[str] = []
    for turn in range(3):
        for desk, waiting in orders.items():
            said += await reasons(desk, waiting[2 * turn : 2 * turn + 2])
    assert said.count("") == min(12, fits)
    # At once, and more than there is room for.
    for late in await asyncio.gather(*(reasons(desk, waiting[6:]) for desk, waiting in orders.items())):
        said += late
    assert (said.count(""), said.count("ROUND_FULL")) == (fits, 40 - fits)
    assert await counted(here) == (fits, fits * len(detail))
    # What was refused by memory is kept as well.
    assert await reasons(here, orders[here][6:]) == ["ROUND_FULL"] * 14


@pytest.mark.guarantee("G11")
async def test_g11_a_round_that_is_filled_while_a_stake_waits_gets_no_more(here: InProcessWallet) -> None:
    filled = f"UPDATE rounds SET stakes_placed = {STAKES_LIMIT}"  # noqa: S608
    assert await placed_while(here, "r1", filled) == "ROUND_FULL"


@pytest.mark.guarantee("G11")
@pytest.mark.usefixtures("small")
async def test_g11_what_was_taken_back_counts(here: InProcessWallet) -> None:
    await here.open_table("t1", MULTI_PLAYER)
    ana = await here.sit_down("ana", "t1")
    for _ in range(10):
        await here.cancel(ana, "r1", await here.place(ana, "r1", 100))
    assert await reasons(here, [order(ana, 1)]) == ["ROUND_FULL"]
    assert await counted(here) == (10, 0)
    # The next round is another one.
    await here.settle("t1", "r1")
    await here.place(ana, "r2", 100)


@pytest.mark.guarantee("G11")
async def test_g11_rounds_that_were_open_before_they_counted_have_been_counted(postgres: EmbeddedPostgres) -> None:
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


# -- what fits into one message --------------------------------------------------------------------------------------

LONGEST_ID = "x" * REQUEST_ID_CHARACTERS_LIMIT
UUID_LONG = "x" * 36
ROUND = types_pb2.RoundRef(round_id=LONGEST_ID, table=types_pb2.TableRef(table_id="x" * 64, epoch=2**62))
MOST = 2**62
NOW = Timestamp(seconds=2**34, nanos=999_999_999)


def _largest() -> list[Message]:
    """The largest messages that a round can bring about, whatever its ids and amounts are."""
    balance = types_pb2.Balance(
        account_id=UUID_LONG, mode=types_pb2.MODE_DEMO, free_cents=MOST, locked_cents=MOST, version=MOST
    )
    result = wallet_pb2.AccountResult(account_id=UUID_LONG, staked_cents=MOST, payout_cents=MOST, balance=balance)
    ended = wallet_pb2.SessionsAfterRound(
        ended_session_ids=[UUID_LONG] * REPORT_SESSIONS_LIMIT, announce_next_round=True
    )
    stake = types_pb2.Stake(
        stake_id=LONGEST_ID,
        account_id=UUID_LONG,
        session_id=UUID_LONG,
        placed_cents=AMOUNT_LIMIT_CENTS,
        cancelled_cents=AMOUNT_LIMIT_CENTS,
        payout_cents=PAYOUT_LIMIT_CENTS,
        state=RETURNED,
        detail=b"x" * ONE_DETAIL,
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
    alone = wallet_pb2.Round(stakes=[stake])
    alone.MergeFrom(round_)
    line = wallet_pb2.SessionInRound(session_id=UUID_LONG, bet=True, excused=True, cave_below_minimum=True)
    payout = wallet_pb2.StakePayout(stake_id=LONGEST_ID, payout_cents=PAYOUT_LIMIT_CENTS)
    return [
        wallet_pb2.SettleRoundRequest(
            request_id=LONGEST_ID,
            round=ROUND,
            payouts=[payout] * STAKES_LIMIT,
            outcome=b"x" * OUTCOME_BYTES_LIMIT,
            report=wallet_pb2.RoundReport(sessions=[line] * REPORT_SESSIONS_LIMIT),
        ),
        wallet_pb2.SettleRoundResponse(transfer_id=MOST, ended_at=NOW, results=[result] * STAKES_LIMIT, sessions=ended),
        wallet_pb2.VoidRoundResponse(transfer_id=MOST, ended_at=NOW, results=[result] * STAKES_LIMIT, sessions=ended),
        wallet_pb2.GetRoundResponse(round=shown, next_page_token=LONGEST_ID),
        wallet_pb2.ListOpenRoundsResponse(rounds=[alone] * queries.STAKES_PAGE_SIZE, next_page_token=LONGEST_ID),
    ]


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("message", _largest(), ids=lambda message: str(message.DESCRIPTOR.name))
def test_g11_the_largest_round_fits_into_each_message_about_it(message: Message) -> None:
    # A relayed answer travels in another message, which adds a few bytes.
    assert message.ByteSize() < MESSAGE_BYTES_LIMIT - 1024
