"""Numbers for ids: whatever a process forgets, and whenever, no command is decided by what is only not remembered."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database import postgresql
from services.kit.database.postgresql import DirectConnection
from services.kit.refusal import Refused
from services.wallet.audit.auditor import Auditor
from services.wallet.ledger.commands import Deposit
from services.wallet.store import group_commit, id_cache
from services.wallet.store.answers import StoredAnswer, StoredRefusal
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    ENDED,
    ENDING,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    Seat,
    open_wallet,
)

SEEDS = range(6)
PLAYERS = "ana", "bea", "eva", "ivo", "leo", "rui"
BANKED, CAVES = ("roulette-1", "roulette-2"), ("holdem-1", "holdem-2")
CENTS = 10_000
WAVES = 10


@pytest_asyncio.fixture
async def here(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as desk:
        yield desk


@pytest_asyncio.fixture
async def there(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """Another replica."""
    async with open_wallet(wallet_database.url) as desk:
        yield desk


@pytest.fixture
def both_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane with one command is well filled: what comes meanwhile for another table or account takes the other one."""
    monkeypatch.setattr(group_commit, "BUSY_LANE_COMMANDS", 1)


def remember(monkeypatch: pytest.MonkeyPatch, ids: int) -> None:
    monkeypatch.setattr(id_cache, "CACHED_IDS_LIMIT", ids)


async def holding(desk: InProcessWallet, seat: Seat) -> tuple[int, int]:
    """The free balance, and the cave at the seat's table."""
    answer = await desk.wallet.get_balance(wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR)
    return answer.balance.free_cents, sum(c.cave_cents for c in answer.caves if c.table_id == seat.table_id)


async def verify(desk: InProcessWallet) -> None:
    told: list[str] = []
    await Auditor(desk.engine, outbox_age_s=1e9).run(lambda _, sentence: told.append(sentence))
    assert told == []


class Between:
    """Does something in the gaps between a lane's words to the database; what that does has no gaps of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, do: Callable[[str], Awaitable[None]]) -> None:
        self._doing = False
        self._do = do
        fetch, transaction = DirectConnection.fetch, DirectConnection.transaction
        between = self

        async def gap_fetch(connection: DirectConnection, statement: str, *values: object) -> Sequence[Any]:
            await between.gap(statement)
            rows = await fetch(connection, statement, *values)
            await between.gap("")
            return rows

        @asynccontextmanager
        async def gap_transaction(connection: DirectConnection) -> AsyncIterator[None]:
            async with transaction(connection):
                yield
                await between.gap("COMMIT")
            await between.gap("")

        monkeypatch.setattr(DirectConnection, "fetch", gap_fetch)
        monkeypatch.setattr(DirectConnection, "transaction", gap_transaction)

    async def gap(self, coming: str) -> None:
        """Before the statement `coming`, or after one."""
        if self._doing:
            return
        self._doing = True
        try:
            await self._do(coming)
        finally:
            self._doing = False


# -- what is forgotten ---------------------------------------------------------------------------------------------


def deposits(account_ids: Sequence[str]) -> list[Deposit]:
    return [Deposit(str(uuid4()), b"content", "back-office", account_id, 1, "") for account_id in account_ids]


def reasons(answers: Sequence[StoredAnswer]) -> list[str]:
    return [StoredRefusal(kept.answer).reason if kept.refused else "" for kept in answers]


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("limit", [0, 1])
async def test_g3_making_room_for_some_of_a_group_forgets_nobody_else_in_it(
    here: InProcessWallet, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    remember(monkeypatch, limit)
    known = [await here.open_account(player, 1) for player in ("ana", "bea")]
    new = [await here.open_account(player) for player in ("eva", "ivo")]
    group = deposits([known[0], new[0], known[1], new[1], known[0]])
    assert reasons(await here.group_commit.submit("one group", group)) == [""] * 5
    # The answer is for ever.
    assert reasons(await here.group_commit.submit("one group", group)) == [""] * 5


@pytest.mark.guarantee("G12")
async def test_g12_who_does_not_exist_is_refused_and_nobody_else(
    here: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(monkeypatch, 0)
    ana, bea = await here.open_account("ana", 1), await here.open_account("bea")
    group = deposits([ana, str(uuid4()), bea, "no id at all", ana.upper()])
    unknown = "ACCOUNT_UNKNOWN"
    assert reasons(await here.group_commit.submit("one group", group)) == ["", unknown, "", unknown, unknown]


@pytest.mark.guarantee("G3")
async def test_g3_what_another_lane_forgets_meanwhile_is_missing_to_nobody(
    here: InProcessWallet, monkeypatch: pytest.MonkeyPatch, both_lanes: None
) -> None:
    """In each gap of a group another lane buys in at another table, and makes room for the four ids of it."""
    remember(monkeypatch, 0)
    for table_id, play in (("t1", MULTI_PLAYER), ("p1", POKER), ("other-1", POKER), ("other-2", POKER)):
        await here.open_table(table_id, play)
    others = [await here.sit_down(f"other-{n}", f"other-{n}") for n in (1, 2)]
    bettors = [await here.sit_down(player, "t1", CENTS) for player in ("ana", "bea")]
    ana, bea = [await here.sit_down(player, "p1", CENTS) for player in ("eva", "ivo")]
    turns = itertools.cycle(others)
    gaps: list[str] = []

    async def make_room(coming: str) -> None:
        gaps.append(coming)
        await here.buy_in(next(turns), 1)

    Between(monkeypatch, make_room)
    await here.deposit(ana.account_id, 1)
    await here.withdraw(ana.account_id, 1)
    stakes = [await here.place(seat, "r1", 100) for seat in (*bettors, *bettors)]
    await here.cancel(bettors[0], "r1", stakes[0])
    settled = await here.settle(
        "t1", "r1", dict.fromkeys(stakes[1:], 200), [seat.session_in_round() for seat in bettors]
    )
    assert len(settled.results) == 2
    for seat in (ana, bea):
        await here.buy_in(seat, 500)
    hand = await here.transfer_hand(
        "p1", "h1", [(ana, 100, 0), (bea, 100, 200)], [ana.session_in_round(), bea.session_in_round()]
    )
    assert [after.cave_cents for after in hand.caves] == [400, 600]
    await here.end_session(bea)
    assert await here.session_state(bea) == ENDING
    out = [await here.cash_out(seat) for seat in (ana, bea)]
    assert [answer.balance.free_cents for answer in out] == [CENTS - 100, CENTS + 100]
    assert [answer.session_ended for answer in out] == [False, True]
    assert len(gaps) > 100
    await verify(here)


@pytest.mark.guarantee("G3")
async def test_g3_stakes_that_were_remembered_wrongly_are_placed_though_all_is_forgotten_meanwhile(
    here: InProcessWallet, there: InProcessWallet, monkeypatch: pytest.MonkeyPatch, both_lanes: None
) -> None:
    """They are decided by memory, which another replica has made stale, and go the long way."""
    await here.open_table("t1", MULTI_PLAYER)
    await here.open_table("other", POKER)
    ana, other = await here.sit_down("ana", "t1", CENTS), await here.sit_down("other", "other")
    await here.place(ana, "r1", 100)
    await there.deposit(ana.account_id, 1)
    forgotten: list[str] = []

    async def make_room(coming: str) -> None:
        if "AS seen" in coming:
            forgotten.append(coming)
            remember(monkeypatch, 0)
            await here.buy_in(other, 1)

    Between(monkeypatch, make_room)
    await here.place(ana, "r1", 100)
    assert len(forgotten) == 1
    await here.void("t1", "r1")
    await verify(here)


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("seed", SEEDS)
async def test_g3_at_random_nothing_that_exists_is_unknown(
    here: InProcessWallet, monkeypatch: pytest.MonkeyPatch, both_lanes: None, seed: int
) -> None:
    """Everything in here is in order and covered, so whatever is refused was refused wrongly."""
    chance = random.Random(seed)
    for table_id in BANKED:
        await here.open_table(table_id, MULTI_PLAYER)
    for table_id in CAVES:
        await here.open_table(table_id, POKER)
    seats = {t: [await here.sit_down(p, t, CENTS) for p in PLAYERS] for t in (*BANKED, *CAVES)}
    evening = _Evening(here, seats, chance)
    remember(monkeypatch, chance.choice((0, 1, 3, 8)))
    for wave in range(WAVES):
        await evening.bets(wave)
        await evening.ends(wave)
    await evening.go_home()
    await verify(here)


@dataclass
class _Evening:
    """Many players at four tables at once, and what each of them has to have in the end."""

    desk: InProcessWallet
    seats: dict[str, list[Seat]]
    chance: random.Random

    def __post_init__(self) -> None:
        self.owned = dict.fromkeys(PLAYERS, CENTS * len(self.seats))
        self.stakes: dict[str, list[str]] = {}

    async def bets(self, wave: int) -> None:
        """Deposits, stakes, buy-ins and cash-outs, all at once."""
        self.stakes = {table_id: [] for table_id in BANKED}
        await asyncio.gather(*(self._bet(self.chance.randrange(4), wave) for _ in range(30)))

    async def _bet(self, kind: int, wave: int) -> None:
        table_id = self.chance.choice(BANKED if kind == 1 else CAVES)
        seat = self.chance.choice(self.seats[table_id])
        if kind == 0:
            self.owned[seat.player_id] += 1
            await self.desk.deposit(seat.account_id, 1)
        elif kind == 1:
            self.stakes[table_id].append(await self.desk.place(seat, f"{table_id}-{wave}", 10))
        elif kind == 2:
            await self.desk.buy_in(seat, 10)
        else:
            await self.desk.cash_out(seat)

    async def ends(self, wave: int) -> None:
        """The rounds are paid or given back, and hands are played."""
        await asyncio.gather(
            *(self._end_round(table_id, f"{table_id}-{wave}") for table_id in BANKED),
            *(self._play_hand(table_id, f"{table_id}-{wave}") for table_id in CAVES),
            *(self._bet(0, wave) for _ in range(5)),
        )

    async def _end_round(self, table_id: str, round_id: str) -> None:
        if self.chance.random() < 0.2:
            await self.desk.void(table_id, round_id)
            return
        there = [seat.session_in_round(bet=True) for seat in self.seats[table_id]]
        await self.desk.settle(table_id, round_id, dict.fromkeys(self.stakes[table_id], 10), there)

    async def _play_hand(self, table_id: str, round_id: str) -> None:
        winner, loser = self.chance.sample(self.seats[table_id], 2)
        await asyncio.gather(self.desk.buy_in(winner, 10), self.desk.buy_in(loser, 10))
        self.owned[winner.player_id] += 4
        self.owned[loser.player_id] -= 4
        there = [seat.session_in_round(bet=True) for seat in self.seats[table_id]]
        await self.desk.transfer_hand(table_id, round_id, [(winner, 4, 8), (loser, 4, 0)], there)

    async def go_home(self) -> None:
        """All sessions end, with all that the players own in their accounts."""
        seated = [seat for table_id in CAVES for seat in self.seats[table_id]]
        for seat in seated:
            await self.desk.end_session(seat)
        await asyncio.gather(*(self.desk.cash_out(seat) for seat in seated))
        assert [await self.desk.session_state(seat) for seat in seated] == [ENDED] * len(seated)
        free = {seat.player_id: (await holding(self.desk, seat))[0] for seat in seated}
        assert free == self.owned


@pytest.mark.guarantee("G11")
async def test_g11_what_is_remembered_is_bounded(
    wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, group = 8, 4
    remember(monkeypatch, limit)
    async with open_wallet(wallet_database.url) as desk:
        account_ids = [await desk.open_account(f"player-{n}") for n in range(3 * limit)]
        engine = postgresql.connect(wallet_database.url, "directory", 1)
        connection = await DirectConnection.open(engine)
        learnt, sizes = id_cache.IdCache(), set[int]()
        for first in range(0, len(account_ids), group):
            named = account_ids[first : first + group]
            own = await learnt.resolve(connection, deposits(named))
            assert own.accounts.keys() == set(named)
            sizes.add(len(learnt._remembered.accounts))
        assert sizes == {group, limit}
        await connection.discard()
        await engine.dispose()


# -- what was never committed --------------------------------------------------------------------------------------


def lose_the_connection(monkeypatch: pytest.MonkeyPatch, gap: int) -> list[str]:
    """Once, in the gap that comes so many gaps from now; what it lost, if it has come."""
    lost: list[str] = []
    gaps = itertools.count(1)

    async def lose(coming: str) -> None:
        if next(gaps) == gap:
            lost.append(coming)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

    Between(monkeypatch, lose)
    return lost


@pytest.mark.guarantee("G5")
async def test_g5_a_cave_is_known_when_it_is_committed_wherever_the_connection_is_lost(
    here: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits_lost = 0
    for gap in itertools.count(1):
        await here.open_table(f"p{gap}", POKER)
        seat = await here.sit_down(f"player-{gap}", f"p{gap}", CENTS)
        with monkeypatch.context() as patch:
            lost = lose_the_connection(patch, gap)
            await here.buy_in(seat, 500)
        assert await holding(here, seat) == (CENTS - 500, 500)
        await here.buy_in(seat, 100)
        await here.end_session(seat)
        out = await here.cash_out(seat)
        assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
        commits_lost += lost == ["COMMIT"]
        if not lost:
            break
    assert commits_lost
    await verify(here)


@pytest.mark.guarantee("G2")
async def test_g2_a_cave_that_another_replica_made_after_ours_came_to_nothing_is_paid_out(
    here: InProcessWallet, there: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for gap in itertools.count(1):
        await here.open_table(f"p{gap}", POKER)
        seat = await here.sit_down(f"player-{gap}", f"p{gap}", CENTS)
        with monkeypatch.context() as patch:
            lost = lose_the_connection(patch, gap)
            with pytest.raises(Refused) as refused:
                await here.buy_in(seat, CENTS + 1)
        assert refused.value.reason == "INSUFFICIENT_FUNDS"
        await there.buy_in(seat, 500)
        await there.end_session(seat)
        out = await here.cash_out(seat)
        assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
        assert await there.session_state(seat) == ENDED
        if not lost:
            break
    await verify(here)


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("knows_the_cave", [False, True])
async def test_g2_a_cave_that_is_filled_while_its_cash_out_is_under_way_is_paid_out(
    here: InProcessWallet, there: InProcessWallet, monkeypatch: pytest.MonkeyPatch, *, knows_the_cave: bool
) -> None:
    await here.open_table("p1", POKER)
    seat = await here.sit_down("ana", "p1", CENTS)
    if knows_the_cave:
        await here.buy_in(seat, 500)
        await here.cash_out(seat)
    filled: list[str] = []

    async def fill(coming: str) -> None:
        if "FOR NO KEY UPDATE" in coming and not filled:
            filled.append(coming)
            await there.buy_in(seat, 500)
            await there.end_session(seat)

    Between(monkeypatch, fill)
    out = await here.cash_out(seat)
    assert filled
    assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
    assert await there.session_state(seat) == ENDED
    await verify(here)


@pytest.mark.guarantee("G12")
async def test_g12_a_cave_that_is_not_where_it_was_is_a_fault_and_looked_up_again(
    here: InProcessWallet, there: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    """As after somebody has set the database back under a running wallet."""
    await here.open_table("p1", POKER)
    seat = await here.sit_down("ana", "p1", CENTS)
    with pytest.raises(Refused):
        await here.buy_in(seat, CENTS + 1)
    owner = postgresql.connect(wallet_database.owner_url, "owner", 1)
    async with owner.begin() as connection:
        await connection.execute(text("DELETE FROM accounts WHERE kind = 4"))
    await owner.dispose()
    await there.buy_in(seat, 500)
    with pytest.raises(id_cache.StaleIds):
        await here.cash_out(seat)
    assert await here.session_state(seat) == ACTIVE
    assert await holding(here, seat) == (CENTS - 500, 500)
    out = await here.cash_out(seat)
    assert (out.balance.free_cents, out.cave_cents) == (CENTS, 0)
