"""The cache of row numbers: an id that is dropped from it, at any moment, is never taken for unknown."""

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
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database import postgresql
from services.kit.database.postgresql import DirectConnection
from services.kit.refusal import Refused
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
    reason_of,
)

SEEDS = range(6)
PLAYERS = "ana", "bea", "eva", "ivo", "leo", "rui"
BANKED, CAVES = ("roulette-1", "roulette-2"), ("holdem-1", "holdem-2")
CENTS = 10_000
WAVES = 10


@pytest.fixture
def small_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a lane busy with one command, so that another table's or account's next one takes the other lane."""
    monkeypatch.setattr(group_commit, "BUSY_LANE_COMMANDS", 1)


def limit_cache(monkeypatch: pytest.MonkeyPatch, ids: int) -> None:
    monkeypatch.setattr(id_cache, "CACHED_IDS_LIMIT", ids)


async def free_and_cave(wallet: InProcessWallet, seat: Seat) -> tuple[int, int]:
    """Returns the free balance, and the cave at the seat's table."""
    answer = await wallet.wallet_service.get_balance(wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR)
    return answer.balance.free_cents, sum(c.cave_cents for c in answer.caves if c.table_id == seat.table_id)


class StatementGaps:
    """Runs an action in the gaps between a lane's statements; the statements of the action have no gaps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, action: Callable[[str], Awaitable[None]]) -> None:
        self._running = False
        self._action = action
        fetch, transaction = DirectConnection.fetch, DirectConnection.transaction
        gaps = self

        async def gap_fetch(connection: DirectConnection, statement: str, *values: object) -> Sequence[Any]:
            await gaps.gap(statement)
            rows = await fetch(connection, statement, *values)
            await gaps.gap("")
            return rows

        @asynccontextmanager
        async def gap_transaction(connection: DirectConnection) -> AsyncIterator[None]:
            async with transaction(connection):
                yield
                await gaps.gap("COMMIT")
            await gaps.gap("")

        monkeypatch.setattr(DirectConnection, "fetch", gap_fetch)
        monkeypatch.setattr(DirectConnection, "transaction", gap_transaction)

    async def gap(self, next_statement: str) -> None:
        """A gap before the next statement, or after one."""
        if self._running:
            return
        self._running = True
        try:
            await self._action(next_statement)
        finally:
            self._running = False


# -- rows dropped from the cache -----------------------------------------------------------------------------------


def deposits(account_ids: Sequence[str]) -> list[Deposit]:
    return [Deposit(str(uuid4()), b"content", "back-office", account_id, 1, "") for account_id in account_ids]


def reasons(answers: Sequence[StoredAnswer]) -> list[str]:
    return [StoredRefusal(stored.answer).reason if stored.refused else "" for stored in answers]


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("limit", [0, 1])
async def test_g3_dropping_cached_accounts_of_a_group_makes_none_of_them_unknown(
    first_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    limit_cache(monkeypatch, limit)
    cached = [await first_replica.open_account(player, 1) for player in ("ana", "bea")]
    new = [await first_replica.open_account(player) for player in ("eva", "ivo")]
    group = deposits([cached[0], new[0], cached[1], new[1], cached[0]])
    assert reasons(await first_replica.group_commit.submit("one group", group)) == [""] * 5
    # The answers are stored for ever.
    assert reasons(await first_replica.group_commit.submit("one group", group)) == [""] * 5


@pytest.mark.guarantee("G12")
async def test_g12_only_unknown_accounts_of_a_group_are_refused(
    first_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_cache(monkeypatch, 0)
    ana, bea = await first_replica.open_account("ana", 1), await first_replica.open_account("bea")
    group = deposits([ana, str(uuid4()), bea, "no id at all", ana.upper()])
    unknown = "ACCOUNT_UNKNOWN"
    assert reasons(await first_replica.group_commit.submit("one group", group)) == ["", unknown, "", unknown, unknown]


@pytest.mark.guarantee("G3")
async def test_g3_rows_that_another_lane_drops_meanwhile_are_missing_to_no_command(
    first_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch, small_lanes: None
) -> None:
    """In each gap of a group another lane buys in at another table, and drops the group's ids for those of its own."""
    limit_cache(monkeypatch, 0)
    for table_id, play in (("t1", MULTI_PLAYER), ("p1", POKER), ("other-1", POKER), ("other-2", POKER)):
        await first_replica.open_table(table_id, play)
    others = [await first_replica.sit_down(f"other-{n}", f"other-{n}") for n in (1, 2)]
    bettors = [await first_replica.sit_down(player, "t1", CENTS) for player in ("ana", "bea")]
    ana, bea = [await first_replica.sit_down(player, "p1", CENTS) for player in ("eva", "ivo")]
    turns = itertools.cycle(others)
    gaps: list[str] = []

    async def drop_cached_ids(next_statement: str) -> None:
        gaps.append(next_statement)
        await first_replica.buy_in(next(turns), 1)

    StatementGaps(monkeypatch, drop_cached_ids)
    await first_replica.deposit(ana.account_id, 1)
    await first_replica.withdraw(ana.account_id, 1)
    stakes = [await first_replica.place(seat, "r1", 100) for seat in (*bettors, *bettors)]
    await first_replica.cancel(bettors[0], "r1", stakes[0])
    settled = await first_replica.settle(
        "t1", "r1", dict.fromkeys(stakes[1:], 200), [seat.session_in_round() for seat in bettors]
    )
    assert len(settled.results) == 2
    for seat in (ana, bea):
        await first_replica.buy_in(seat, 500)
    hand = await first_replica.transfer_hand(
        "p1", "h1", [(ana, 100, 0), (bea, 100, 200)], [ana.session_in_round(), bea.session_in_round()]
    )
    assert [after.cave_cents for after in hand.caves] == [400, 600]
    await first_replica.end_session(bea)
    assert await first_replica.session_state(bea) == ENDING
    out = [await first_replica.cash_out(seat) for seat in (ana, bea)]
    assert [answer.balance.free_cents for answer in out] == [CENTS - 100, CENTS + 100]
    assert [answer.session_ended for answer in out] == [False, True]
    assert len(gaps) > 100
    assert await first_replica.violations() == []


@pytest.mark.guarantee("G3")
async def test_g3_stakes_with_stale_cached_rows_are_placed_though_their_ids_are_dropped_meanwhile(
    first_replica: InProcessWallet, second_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch, small_lanes: None
) -> None:
    """Another replica has made the cached rows stale, so the stakes take the slow path."""
    await first_replica.open_table("t1", MULTI_PLAYER)
    await first_replica.open_table("other", POKER)
    ana, other = await first_replica.sit_down("ana", "t1", CENTS), await first_replica.sit_down("other", "other")
    await first_replica.place(ana, "r1", 100)
    await second_replica.deposit(ana.account_id, 1)
    drops: list[str] = []

    async def drop_cached_ids(next_statement: str) -> None:
        if "AS seen" in next_statement:
            drops.append(next_statement)
            limit_cache(monkeypatch, 0)
            await first_replica.buy_in(other, 1)

    StatementGaps(monkeypatch, drop_cached_ids)
    await first_replica.place(ana, "r1", 100)
    assert len(drops) == 1
    await first_replica.void("t1", "r1")
    assert await first_replica.violations() == []


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("seed", SEEDS)
async def test_g3_random_commands_never_find_an_existing_id_unknown(
    first_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch, small_lanes: None, seed: int
) -> None:
    """Every command is valid and covered, so that any refusal is wrong."""
    dice = random.Random(seed)
    for table_id in BANKED:
        await first_replica.open_table(table_id, MULTI_PLAYER)
    for table_id in CAVES:
        await first_replica.open_table(table_id, POKER)
    seats = {t: [await first_replica.sit_down(p, t, CENTS) for p in PLAYERS] for t in (*BANKED, *CAVES)}
    play = RandomPlay(first_replica, seats, dice)
    limit_cache(monkeypatch, dice.choice((0, 1, 3, 8)))
    for wave in range(WAVES):
        await play.bet(wave)
        await play.end_rounds(wave)
    await play.end_sessions()
    assert await first_replica.violations() == []


@dataclass
class RandomPlay:
    """Many players at four tables at once, and the money that each must have in the end."""

    wallet: InProcessWallet
    seats: dict[str, list[Seat]]
    dice: random.Random

    def __post_init__(self) -> None:
        self.owned = dict.fromkeys(PLAYERS, CENTS * len(self.seats))
        self.stakes: dict[str, list[str]] = {}

    async def bet(self, wave: int) -> None:
        """Sends deposits, stakes, buy-ins and cash-outs all at once."""
        self.stakes = {table_id: [] for table_id in BANKED}
        await asyncio.gather(*(self._bet(self.dice.randrange(4), wave) for _ in range(30)))

    async def _bet(self, kind: int, wave: int) -> None:
        table_id = self.dice.choice(BANKED if kind == 1 else CAVES)
        seat = self.dice.choice(self.seats[table_id])
        if kind == 0:
            self.owned[seat.player_id] += 1
            await self.wallet.deposit(seat.account_id, 1)
        elif kind == 1:
            self.stakes[table_id].append(await self.wallet.place(seat, f"{table_id}-{wave}", 10))
        elif kind == 2:
            await self.wallet.buy_in(seat, 10)
        else:
            await self.wallet.cash_out(seat)

    async def end_rounds(self, wave: int) -> None:
        """Settles or voids the rounds, and plays hands."""
        await asyncio.gather(
            *(self._end_round(table_id, f"{table_id}-{wave}") for table_id in BANKED),
            *(self._play_hand(table_id, f"{table_id}-{wave}") for table_id in CAVES),
            *(self._bet(0, wave) for _ in range(5)),
        )

    async def _end_round(self, table_id: str, round_id: str) -> None:
        if self.dice.random() < 0.2:
            await self.wallet.void(table_id, round_id)
            return
        report = [seat.session_in_round(bet=True) for seat in self.seats[table_id]]
        await self.wallet.settle(table_id, round_id, dict.fromkeys(self.stakes[table_id], 10), report)

    async def _play_hand(self, table_id: str, round_id: str) -> None:
        winner, loser = self.dice.sample(self.seats[table_id], 2)
        await asyncio.gather(self.wallet.buy_in(winner, 10), self.wallet.buy_in(loser, 10))
        self.owned[winner.player_id] += 4
        self.owned[loser.player_id] -= 4
        report = [seat.session_in_round(bet=True) for seat in self.seats[table_id]]
        await self.wallet.transfer_hand(table_id, round_id, [(winner, 4, 8), (loser, 4, 0)], report)

    async def end_sessions(self) -> None:
        """Ends all sessions, after which all money of the players is in their accounts."""
        seated = [seat for table_id in CAVES for seat in self.seats[table_id]]
        for seat in seated:
            await self.wallet.end_session(seat)
        await asyncio.gather(*(self.wallet.cash_out(seat) for seat in seated))
        assert [await self.wallet.session_state(seat) for seat in seated] == [ENDED] * len(seated)
        free = {seat.player_id: (await free_and_cave(self.wallet, seat))[0] for seat in seated}
        assert free == self.owned


@pytest.mark.guarantee("G11")
async def test_g11_the_cache_is_bounded(
    wallet: InProcessWallet, wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, group = 8, 4
    limit_cache(monkeypatch, limit)
    account_ids = [await wallet.open_account(f"player-{n}") for n in range(3 * limit)]
    engine = postgresql.connect(wallet_database.url, "test", 1)
    connection = await DirectConnection.open(engine)
    cache, sizes = id_cache.IdCache(), set[int]()
    for first in range(0, len(account_ids), group):
        named = account_ids[first : first + group]
        resolved = await cache.resolve(connection, deposits(named))
        assert resolved.accounts.keys() == set(named)
        sizes.add(len(cache._cached.accounts))
    assert sizes == {group, limit}
    await connection.discard()
    await engine.dispose()


# -- rows that were never committed --------------------------------------------------------------------------------


def lose_connection(monkeypatch: pytest.MonkeyPatch, gap: int) -> list[str]:
    """Loses the connection once, in the gap with this number; returns the statement lost there, if it came."""
    lost: list[str] = []
    gaps = itertools.count(1)

    async def lose(next_statement: str) -> None:
        if next(gaps) == gap:
            lost.append(next_statement)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

    StatementGaps(monkeypatch, lose)
    return lost


@pytest.mark.guarantee("G5")
async def test_g5_a_cave_is_cached_only_if_committed_wherever_the_connection_is_lost(
    first_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits_lost = 0
    for gap in itertools.count(1):
        await first_replica.open_table(f"p{gap}", POKER)
        seat = await first_replica.sit_down(f"player-{gap}", f"p{gap}", CENTS)
        with monkeypatch.context() as patch:
            lost = lose_connection(patch, gap)
            await first_replica.buy_in(seat, 500)
        assert await free_and_cave(first_replica, seat) == (CENTS - 500, 500)
        await first_replica.buy_in(seat, 100)
        await first_replica.end_session(seat)
        out = await first_replica.cash_out(seat)
        assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
        commits_lost += lost == ["COMMIT"]
        if not lost:
            break
    assert commits_lost
    assert await first_replica.violations() == []


@pytest.mark.guarantee("G2")
async def test_g2_a_cave_that_another_replica_made_after_a_refused_buy_in_is_paid_out(
    first_replica: InProcessWallet, second_replica: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for gap in itertools.count(1):
        await first_replica.open_table(f"p{gap}", POKER)
        seat = await first_replica.sit_down(f"player-{gap}", f"p{gap}", CENTS)
        with monkeypatch.context() as patch:
            lost = lose_connection(patch, gap)
            with pytest.raises(Refused) as refused:
                await first_replica.buy_in(seat, CENTS + 1)
        assert refused.value.reason == "INSUFFICIENT_FUNDS"
        await second_replica.buy_in(seat, 500)
        await second_replica.end_session(seat)
        out = await first_replica.cash_out(seat)
        assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
        assert await second_replica.session_state(seat) == ENDED
        if not lost:
            break
    assert await first_replica.violations() == []


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("is_cached", [False, True])
async def test_g2_a_cave_that_is_filled_while_its_cash_out_is_under_way_is_paid_out(
    first_replica: InProcessWallet,
    second_replica: InProcessWallet,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_cached: bool,
) -> None:
    await first_replica.open_table("p1", POKER)
    seat = await first_replica.sit_down("ana", "p1", CENTS)
    if is_cached:
        await first_replica.buy_in(seat, 500)
        await first_replica.cash_out(seat)
    filled: list[str] = []

    async def fill(next_statement: str) -> None:
        if "FOR NO KEY UPDATE" in next_statement and not filled:
            filled.append(next_statement)
            await second_replica.buy_in(seat, 500)
            await second_replica.end_session(seat)

    StatementGaps(monkeypatch, fill)
    out = await first_replica.cash_out(seat)
    assert filled
    assert (out.balance.free_cents, out.cave_cents, out.session_ended) == (CENTS, 0, True)
    assert await second_replica.session_state(seat) == ENDED
    assert await first_replica.violations() == []


@pytest.mark.guarantee("G12")
async def test_g12_a_cached_cave_that_is_gone_fails_the_command_and_clears_the_cache(
    first_replica: InProcessWallet, second_replica: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    """As if the database were restored to an earlier state under a running wallet."""
    await first_replica.open_table("p1", POKER)
    seat = await first_replica.sit_down("ana", "p1", CENTS)
    with pytest.raises(Refused):
        await first_replica.buy_in(seat, CENTS + 1)
    owner = postgresql.connect(wallet_database.owner_url, "owner", 1)
    async with owner.begin() as connection:
        await connection.execute(text("DELETE FROM accounts WHERE kind = 4"))
    await owner.dispose()
    await second_replica.buy_in(seat, 500)
    with pytest.raises(id_cache.StaleIds):
        await first_replica.cash_out(seat)
    assert await first_replica.session_state(seat) == ACTIVE
    assert await free_and_cave(first_replica, seat) == (CENTS - 500, 500)
    out = await first_replica.cash_out(seat)
    assert (out.balance.free_cents, out.cave_cents) == (CENTS, 0)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("command", ["stake", "cash out"])
async def test_g12_a_cached_session_that_is_gone_fails_the_command_and_clears_the_cache(
    wallet: InProcessWallet, wallet_database: WalletDatabase, command: str
) -> None:
    """As if the database were restored to an earlier state under a running wallet."""
    play = MULTI_PLAYER if command == "stake" else POKER
    await wallet.open_table("t1", play)
    seat = await wallet.sit_down("ana", "t1", CENTS)
    act: Callable[[], Awaitable[object]]
    if command == "stake":
        act = lambda: wallet.place(seat, "r1", 100)  # noqa: E731 - one of two
        with pytest.raises(StoredRefusal):
            await wallet.place(seat, "r1", CENTS + 1)
    else:
        act = lambda: wallet.cash_out(seat)  # noqa: E731 - one of two
        await act()
    owner = postgresql.connect(wallet_database.owner_url, "owner", 1)
    async with owner.begin() as connection:
        await connection.execute(text("DELETE FROM sessions"))
    await owner.dispose()
    with pytest.raises(id_cache.StaleIds):
        await act()
    # With the ids read again it is known that there is no such session.
    assert await reason_of(act()) == "SESSION_UNKNOWN"
    assert await free_and_cave(wallet, seat) == (CENTS, 0)
