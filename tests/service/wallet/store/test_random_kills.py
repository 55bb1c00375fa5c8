"""The wallet is killed again and again in the middle of its work; nothing is lost and nothing happens twice."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, TypeVar

import asyncpg
import nats
import pytest
from nats.js.api import AckPolicy, ConsumerConfig

from feltro.wallet.v1 import events_pb2, types_pb2
from services.kit.database import postgresql
from services.wallet.audit.auditor import Auditor
from services.wallet.outbox.facts import STREAM, SUBJECTS, TRANSFERS_SUBJECT
from tests.processes.wallet import WalletProcess
from tests.service.wallet.ledger.ledger_model import (
    BuyIn,
    CancelStake,
    CashOut,
    Deposit,
    Facts,
    IdempotentCommand,
    PlaceStake,
    SeatResult,
    SettleRound,
    StartSession,
    TransferHand,
    VoidRound,
    Withdraw,
)
from tests.service.wallet.ledger.model_over_grpc import Replica, Unanswered

if TYPE_CHECKING:
    from nats.aio.msg import Msg

    from tests.processes.databases import WalletDatabase

# FELTRO_TEST_EFFORT=10 kills ten times as often.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
KILLS = 20 * EFFORT
# Answers between one kill and the next.
FEWEST, MOST = 1, 100
ROULETTES, POKERS, PLAYERS = 5, 2, 8
# More than anybody can lose here, so that nothing is ever refused.
PURSE_CENTS = 10**9
# A kill and the start after it take about a second; a publisher that takes over needs about one more.
SECONDS_PER_KILL, DELIVERED_WITHIN_S = 12.0, 60.0

ToldT = TypeVar("ToldT")


@dataclass
class Books:
    """What the callers were told, and what it has to come to."""

    told: dict[str, bytes] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)
    unanswered: int = 0
    free: Counter[str] = field(default_factory=Counter)
    caves: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended: dict[str, str] = field(default_factory=dict)


class House:
    """Callers that never give up, before a wallet that is killed whenever enough of them have been answered."""

    def __init__(self, process: WalletProcess, replica: Replica, dice: Random) -> None:
        self.process = process
        self.replica = replica
        self.dice = dice
        self.books = Books()
        self.closing = False
        self.accounts: list[str] = []
        self._sessions: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._progress = asyncio.Condition()
        self._answers = self._facts = 0

    # -- asking until answered ----------------------------------------------------------------------------------------

    async def ask(self, command: IdempotentCommand) -> Facts:
        """Sends a command, the same one again and again, until it is answered. Nothing in here may be refused."""
        answer, said = await self._until_answered(lambda: self.replica.send(command))
        assert not answer.refused, f"{command} was refused: {answer}"
        await self._note(command, said)
        return answer.facts

    async def ask_twice(self, command: IdempotentCommand) -> Facts:
        """The same command from two callers at the same moment."""
        facts, _ = await asyncio.gather(self.ask(command), self.ask(command))
        return facts

    async def ask_many(self, orders: list[PlaceStake]) -> None:
        """Many stakes in one call."""
        answers = await self._until_answered(lambda: self.replica.send_many(orders))
        for order, (answer, said) in zip(orders, answers, strict=True):
            assert not answer.refused, f"{order} was refused: {answer}"
            await self._note(order, said)

    async def _until_answered(self, ask: Callable[[], Awaitable[ToldT]]) -> ToldT:
        while True:
            try:
                return await ask()
            except Unanswered:
                self.books.unanswered += 1

    async def _note(self, command: IdempotentCommand, said: bytes) -> None:
        first = self.books.told.setdefault(command.request_id, said)
        assert first == said, f"G3: {command} was not answered with the bytes of the first time"
        if not isinstance(command, StartSession):
            self.books.moving.add(command.request_id)
        async with self._progress:
            self._answers += 1
            self._progress.notify_all()

    # -- being killed -------------------------------------------------------------------------------------------------

    async def be_killed(self) -> None:
        """The wallet is killed after so and so many answers or facts, while others wait for theirs; it starts again."""
        for _ in range(KILLS):
            # Now while a group is being answered, now while the publisher is between the bus and the outbox.
            await self._until_more(answers=self.dice.randint(FEWEST, MOST), facts=self.dice.randint(FEWEST, MOST))
            # The callers do not stand still meanwhile: what they have just said is on its way when the wallet dies.
            await asyncio.to_thread(self.process.kill)
            self.process.start()
        self.closing = True

    async def _until_more(self, *, answers: int, facts: int) -> None:
        answers, facts = answers + self._answers, facts + self._facts
        async with self._progress:
            while self._answers < answers and self._facts < facts:
                await self._progress.wait()

    async def hear_fact(self, _: Msg) -> None:
        """A fact is on the bus; whether its publisher knows is another matter."""
        async with self._progress:
            self._facts += 1
            self._progress.notify_all()

    # -- what callers do ----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Tables, accounts with money, and a session of everybody everywhere."""
        client = self.replica.client
        tables = [f"roulette-{n}" for n in range(ROULETTES)] + [f"poker-{n}" for n in range(POKERS)]
        for table in tables:
            poker = table.startswith("poker")
            play = types_pb2.PLAY_POKER if poker else types_pb2.PLAY_MULTI_PLAYER
            await client.open_table(table, play=play, regulation="806/2015" if poker else "804/2015")
        self.accounts = [await client.open_account(f"player-{n}") for n in range(PLAYERS)]
        for account in self.accounts:
            await self._cash(Deposit, account, PURSE_CENTS)
        for account in self.accounts:
            for table in tables:
                started = await self.ask(StartSession(self._id("start"), account, table))
                self._sessions[account, table] = str(started["session"])

    async def bet(self, table: str) -> None:
        """Round after round at a table with a bank."""
        while not self.closing:
            round_id = self._id(f"{table}-round")
            orders = [
                PlaceStake(self._id("stake"), table, 1, round_id, account, self._sessions[account, table], cents)
                for account in self.dice.sample(self.accounts, self.dice.randint(1, 5))
                for cents in self.dice.sample(range(1, 100), self.dice.randint(1, 2))
            ]
            if self.dice.randint(0, 1):
                await self.ask_many(orders)
            else:
                await asyncio.gather(*(self.ask(order) for order in orders))
            in_play = await self._take_back(table, round_id, orders)
            await self._end(table, round_id, in_play)

    async def _take_back(self, table: str, round_id: str, orders: list[PlaceStake]) -> dict[PlaceStake, int]:
        """Takes one stake back, in part; gives what is in play."""
        in_play = {order: order.cents for order in orders}
        stake = self.dice.choice(orders)
        if stake.cents > 1 and self.dice.randint(0, 1):
            cents = self.dice.randint(1, stake.cents - 1)
            await self.ask_twice(CancelStake(self._id("cancel"), table, 1, round_id, stake.request_id, cents))
            in_play[stake] -= cents
        return in_play

    async def _end(self, table: str, round_id: str, in_play: Mapping[PlaceStake, int]) -> None:
        if self.dice.randint(0, 3) == 0:
            await self.ask(VoidRound(self._id("void"), table, 1, round_id))
            self.books.ended[round_id] = "VOID"
            return
        payouts = {order: cents * self.dice.choice((0, 0, 1, 2, 36)) for order, cents in in_play.items()}
        named = tuple((order.request_id, payout) for order, payout in payouts.items())
        await self.ask_twice(SettleRound(self._id("settle"), table, 1, round_id, named))
        for order, payout in payouts.items():
            self.books.free[order.account] += payout - in_play[order]
        self.books.ended[round_id] = "SETTLED"

    async def play_poker(self, table: str) -> None:
        """Hand after hand among caves that are filled and emptied in between."""
        while not self.closing:
            seats = self.dice.sample(self.accounts, 3)
            await asyncio.gather(*(self._buy_in(table, account) for account in seats))
            await self._play_hand(table, seats)
            await self._leave(table, seats[0])

    async def _buy_in(self, table: str, account: str) -> None:
        cents, commission = self.dice.randint(100, 500), self.dice.randint(0, 5)
        session = self._sessions[account, table]
        await self.ask(BuyIn(self._id("buy-in"), table, 1, account, session, cents, commission))
        self.books.free[account] -= cents + commission
        self.books.caves[account, table] += cents

    async def _play_hand(self, table: str, accounts: list[str]) -> None:
        # Half of the least pot is more than the commission.
        staked = {account: self.dice.randint(3, 100) for account in accounts}
        pot = sum(staked.values())
        commission = self.dice.randint(0, 3)
        won = Counter({accounts[0]: pot // 2, accounts[1]: pot - pot // 2 - commission})
        seats = tuple(
            SeatResult(account, self._sessions[account, table], staked[account], won[account]) for account in accounts
        )
        round_id = self._id(f"{table}-hand")
        await self.ask_twice(TransferHand(self._id("hand"), table, 1, round_id, seats, commission))
        for seat in seats:
            self.books.caves[seat.account, table] += seat.won - seat.staked
        self.books.ended[round_id] = "SETTLED"

    async def _leave(self, table: str, account: str) -> None:
        cents = self.books.caves[account, table]
        await self.ask(CashOut(self._id("cash-out"), table, 1, account, self._sessions[account, table], 0))
        self.books.free[account] += cents
        self.books.caves[account, table] = 0

    async def deposit(self, cents: int) -> None:
        await self._cash(Deposit, self.accounts[0], cents)

    async def count_cash(self) -> None:
        """Deposits and withdrawals, now of this one, now of that one."""
        while not self.closing:
            kind = self.dice.choice((Deposit, Withdraw))
            await self._cash(kind, self.dice.choice(self.accounts), self.dice.randint(1, 1000))

    async def _cash(self, kind: type[Deposit | Withdraw], account: str, cents: int) -> None:
        await self.ask(kind(self._id("cash"), account, cents))
        self.books.free[account] += cents if kind is Deposit else -cents

    def _id(self, kind: str) -> str:
        self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"


# What one entry did: transfer, pocket, before, movement, after.
Moved = tuple[int, int, int, int, int]
# Of a player's account the id, of a cave also its table; of the house nothing.
Whose = tuple[str, str]


@dataclass
class Heard:
    """What the stream has told, in its order."""

    messages: Counter[str] = field(default_factory=Counter)
    by_player: defaultdict[Whose, list[Moved]] = field(default_factory=lambda: defaultdict(list))
    by_transfers: defaultdict[Whose, list[Moved]] = field(default_factory=lambda: defaultdict(list))
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    started: Counter[str] = field(default_factory=Counter)
    versions: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def hear(self, message: Msg) -> None:
        self.messages[(message.headers or {})["Nats-Msg-Id"]] += 1
        if message.subject == TRANSFERS_SUBJECT:
            _collect(self.by_transfers, events_pb2.TransfersMade.FromString(message.data).transactions)
        elif message.subject.startswith("feltro.wallet.rounds."):
            ended = events_pb2.RoundEnded.FromString(message.data)
            self.ended[ended.round_id, types_pb2.RoundState.Name(ended.state).removeprefix("ROUND_STATE_")] += 1
        else:
            self._hear_player(events_pb2.PlayerFact.FromString(message.data))

    def _hear_player(self, fact: events_pb2.PlayerFact) -> None:
        if fact.HasField("session_started"):
            self.started[fact.session_started.session.session_id] += 1
            return
        balance = fact.balance_changed.balance
        self.versions[balance.account_id].append(balance.version)
        _collect(self.by_player, fact.balance_changed.transactions)


def _collect(moved: defaultdict[Whose, list[Moved]], transactions: Iterable[types_pb2.Transaction]) -> None:
    for one in transactions:
        for entry in one.entries:
            moved[one.account_id, one.cave_table_id].append(
                (one.transfer_id, entry.balance_part, entry.before_cents, entry.amount_cents, entry.after_cents)
            )


async def _written(connection: asyncpg.Connection[asyncpg.Record]) -> dict[Whose, list[Moved]]:
    """The entries as the ledger has them, each account's in the order of its versions."""
    written: defaultdict[Whose, list[Moved]] = defaultdict(list)
    for row in await connection.fetch(
        "SELECT coalesce(owner.account_id::text, CASE a.kind WHEN 1 THEN a.account_id::text END, '') AS account_id,"
        " CASE a.kind WHEN 4 THEN t.table_id ELSE '' END AS table_id, e.*"
        " FROM entries e JOIN accounts a USING (account_no) LEFT JOIN tables t ON t.table_no = a.table_no"
        " LEFT JOIN accounts owner ON owner.account_no = a.owner_no AND a.kind = 4"
        " ORDER BY account_no, version, leg"
    ):
        moved = (row["transfer_no"], row["pocket"], row["before_cents"], row["amount_cents"], row["after_cents"])
        written[row["account_id"], row["table_id"]].append(moved)
    return written


@asynccontextmanager
async def _overheard(url: str, hear: Callable[[Msg], Awaitable[None]]) -> AsyncIterator[None]:
    """Calls for each fact at the moment when it is published."""
    bus = await nats.connect(url)
    try:
        for subject in SUBJECTS:
            await bus.subscribe(subject, cb=hear)
        yield
    finally:
        await bus.close()


async def _listen(url: str, enough: Callable[[Heard], bool]) -> Heard:
    """Reads the stream from its beginning until enough was heard."""
    heard = Heard()
    bus = await nats.connect(url)
    try:
        jetstream = bus.jetstream(timeout=DELIVERED_WITHIN_S)
        # Without acknowledgements: of those, only a thousand may be owed.
        reader = await jetstream.pull_subscribe("", stream=STREAM, config=ConsumerConfig(ack_policy=AckPolicy.NONE))
        async with asyncio.timeout(DELIVERED_WITHIN_S):
            while not enough(heard):
                try:
                    for message in await reader.fetch(500, timeout=1):
                        heard.hear(message)
                except TimeoutError:
                    continue
        info = await jetstream.stream_info(STREAM)
        assert info.state.messages == heard.messages.total()
    finally:
        await bus.close()
    return heard


@pytest.mark.slow
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_what_was_acknowledged_is_there_once_however_often_the_wallet_is_killed(
    wallet_process: WalletProcess, wallet_database: WalletDatabase
) -> None:
    wallet_process.start()
    await wallet_process.ready()
    async with Replica.connect(wallet_process) as replica, asyncio.timeout(60 + KILLS * SECONDS_PER_KILL):
        house = House(wallet_process, replica, Random())
        await house.open()
        async with _overheard(wallet_process.nats_url, house.hear_fact), asyncio.TaskGroup() as callers:
            callers.create_task(house.be_killed())
            for number in range(ROULETTES):
                callers.create_task(house.bet(f"roulette-{number}"))
            for number in range(POKERS):
                callers.create_task(house.play_poker(f"poker-{number}"))
            for _ in range(3):
                callers.create_task(house.count_cash())
        assert house.books.unanswered >= KILLS, "the wallet was killed when nobody was waiting for it"

        connection = await asyncpg.connect(wallet_database.url.replace("+asyncpg", ""))
        try:
            await _compare_ledger(connection, house.books)
            await _compare_stream(connection, house.books, wallet_process.nats_url)
            # A row is removed before the next one leaves, so all but the last one must be gone by then.
            await house.deposit(1)
            await _compare_stream(connection, house.books, wallet_process.nats_url)
            assert await connection.fetchval("SELECT count(*) FROM outbox") <= 1, "what has left is still in the outbox"
        finally:
            await connection.close()
    await _verify_audit(wallet_database.url)


async def _compare_ledger(connection: asyncpg.Connection[asyncpg.Record], books: Books) -> None:
    kept = await connection.fetch("SELECT request_id, answer, refused FROM requests")
    assert {row["request_id"]: row["answer"] for row in kept} == books.told
    assert not any(row["refused"] for row in kept)
    transfers = await connection.fetch("SELECT request_id FROM transfers")
    assert Counter(row["request_id"] for row in transfers) == Counter(books.moving)

    purses = await connection.fetch("SELECT account_id::text, free_cents, locked_cents FROM accounts WHERE kind = 1")
    assert {row["account_id"]: row["free_cents"] for row in purses} == dict(books.free)
    assert not any(row["locked_cents"] for row in purses)
    caves = await connection.fetch(
        "SELECT o.account_id::text, t.table_id, c.free_cents FROM accounts c JOIN tables t USING (table_no)"
        " JOIN accounts o ON o.account_no = c.owner_no WHERE c.kind = 4"
    )
    assert {(row["account_id"], row["table_id"]): row["free_cents"] for row in caves} == dict(books.caves)
    rounds = await connection.fetch("SELECT round_id, state FROM rounds")
    assert {row["round_id"]: {2: "SETTLED", 3: "VOID"}.get(row["state"]) for row in rounds} == books.ended


async def _compare_stream(connection: asyncpg.Connection[asyncpg.Record], books: Books, nats_url: str) -> None:
    """Every fact has left exactly once, and for each account in the order in which it became true."""
    written = await _written(connection)
    house = sorted(written.pop(("", "")))
    entries = sum(map(len, written.values())) + len(house)
    heard = await _listen(
        nats_url,
        lambda so_far: (
            sum(map(len, so_far.by_transfers.values())) >= entries and so_far.ended.total() >= len(books.ended)
        ),
    )
    assert set(heard.messages.values()) == {1}, "a message id came twice"
    assert dict(heard.by_player) == written
    assert sorted(heard.by_transfers.pop(("", ""))) == house
    assert dict(heard.by_transfers) == written
    assert heard.ended == Counter(books.ended.items())
    assert set(heard.started.values()) == {1}
    assert len(heard.started) == PLAYERS * (ROULETTES + POKERS)
    for versions in heard.versions.values():
        assert versions == sorted(versions)


async def _verify_audit(url: str) -> None:
    engine = postgresql.connect(url, "test", connections=1)
    violations: list[str] = []
    await Auditor(engine).run(lambda check, sentence: violations.append(f"{check.name}: {sentence}"))
    await engine.dispose()
    assert violations == []
