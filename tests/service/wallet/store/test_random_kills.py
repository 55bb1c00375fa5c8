"""Kills the wallet's process again and again under load: nothing is lost, and nothing happens twice."""

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

from feltro.wallet.v1 import events_pb2, ticket_pb2, tournament_pb2, types_pb2
from services.kit.bus.subjects import FACTS_STREAM
from services.wallet.outbox.facts import TRANSFERS_SUBJECT
from tests.processes import ledger_audit
from tests.processes.bus import stream_config
from tests.processes.databases import connect_asyncpg
from tests.processes.wallet import WalletProcess
from tests.service.wallet.ledger.ledger_model import (
    BuyIn,
    CancelStakes,
    CashOut,
    Deposit,
    Facts,
    IdempotentCommand,
    PayStakes,
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
# Answers, or facts, between one kill and the next.
MIN_ANSWERS, MAX_ANSWERS = 1, 100
ROULETTE_TABLES, POKER_TABLES, PLAYERS = 5, 2, 8
# The first awards tickets to the second, and the third takes those that are replaced.
TOURNAMENTS = SATELLITE, TARGET, REPLACEMENT = "satellite", "target", "replacement"
TICKET_CENTS = 100
# More than a player can lose here, so that nothing is ever refused.
PURSE_CENTS = 10**9
# A kill and the start after it take about a second; a publisher that takes over needs about one more.
TIMEOUT_PER_KILL_S, DELIVERY_TIMEOUT_S = 12.0, 60.0

AnswerT = TypeVar("AnswerT")
TournamentRequest = tournament_pb2.PayInRequest | tournament_pb2.PayOutRequest | tournament_pb2.SettleTicketsRequest


@dataclass
class Expected:
    """The answers that the callers got, and the state that they amount to."""

    answers: dict[str, bytes] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)
    unanswered: int = 0
    free: Counter[str] = field(default_factory=Counter)
    caves: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended: dict[str, str] = field(default_factory=dict)


class Load:
    """Callers that repeat their commands until they are answered, and the kills of the wallet that answers them."""

    def __init__(self, process: WalletProcess, replica: Replica, dice: Random) -> None:
        self.process = process
        self.replica = replica
        self.dice = dice
        self.expected = Expected()
        self.stopping = False
        self.accounts: list[str] = []
        self._sessions: dict[tuple[str, str], str] = {}
        # The awards that gave the tickets which can be used.
        self._open_tickets: dict[str, tournament_pb2.Award] = {}
        self._numbers: Counter[str] = Counter()
        self._progress = asyncio.Condition()
        self._answers = self._facts = 0
        # Calls that wait for an answer.
        self._calls = 0

    # -- commands -----------------------------------------------------------------------------------------------------

    async def send(self, command: IdempotentCommand) -> Facts:
        """Sends a command again and again until it is answered; no command of this test may be refused."""
        answer, answer_bytes = await self._until_answered(lambda: self.replica.send(command))
        assert not answer.refused, f"{command} was refused: {answer}"
        await self._record(command.request_id, answer_bytes, moves=not isinstance(command, StartSession))
        return answer.facts

    async def send_twice(self, command: IdempotentCommand) -> Facts:
        """Sends the same command from two callers at the same moment."""
        facts, _ = await asyncio.gather(self.send(command), self.send(command))
        return facts

    async def send_many(self, orders: list[PlaceStake]) -> None:
        """Sends many stakes in one call, until they are answered."""
        answers = await self._until_answered(lambda: self.replica.send_many(orders))
        for order, (answer, answer_bytes) in zip(orders, answers, strict=True):
            assert not answer.refused, f"{order} was refused: {answer}"
            await self._record(order.request_id, answer_bytes)

    async def _until_answered(self, send: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        while True:
            self._calls += 1
            try:
                return await send()
            except Unanswered:
                self.expected.unanswered += 1
            finally:
                self._calls -= 1

    async def _record(self, request_id: str, answer: bytes, *, moves: bool = True) -> None:
        first = self.expected.answers.setdefault(request_id, answer)
        assert first == answer, f"G3: {request_id} was not answered with the bytes of the first time"
        if moves:
            self.expected.moving.add(request_id)
        async with self._progress:
            self._answers += 1
            self._progress.notify_all()

    # -- kills --------------------------------------------------------------------------------------------------------

    async def kill_repeatedly(self) -> None:
        """Kills the wallet after a random number of answers or facts, while callers wait, and starts it again."""
        for _ in range(KILLS):
            # Sometimes while a group is answered, sometimes while the publisher is between the bus and the outbox.
            answers, facts = (self.dice.randint(MIN_ANSWERS, MAX_ANSWERS) for _ in range(2))
            await self._until_more(answers=answers, facts=facts)
            # The callers go on meanwhile: commands are on their way when the wallet dies.
            await asyncio.to_thread(self.process.kill)
            self.process.start()
        self.stopping = True

    async def _until_more(self, *, answers: int, facts: int) -> None:
        answers, facts = answers + self._answers, facts + self._facts
        async with self._progress:
            while (self._answers < answers and self._facts < facts) or not self._calls:
                await self._progress.wait()

    async def count_fact(self, _: Msg) -> None:
        """Counts a fact on the bus, which its publisher may not know yet."""
        async with self._progress:
            self._facts += 1
            self._progress.notify_all()

    # -- play ---------------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Opens tables, accounts with money, and a session of each account at each table."""
        client = self.replica.client
        tables = [f"roulette-{n}" for n in range(ROULETTE_TABLES)] + [f"poker-{n}" for n in range(POKER_TABLES)]
        for table in tables:
            poker = table.startswith("poker")
            play = types_pb2.PLAY_POKER if poker else types_pb2.PLAY_MULTI_PLAYER
            await client.open_table(table, play=play, regulation="806/2015" if poker else "804/2015")
        for tournament in TOURNAMENTS:
            await client.open_table(tournament, play=types_pb2.PLAY_TOURNAMENT, regulation="810/2015")
        self.accounts = [await client.open_account(f"player-{n}") for n in range(PLAYERS)]
        for account in self.accounts:
            await self._cash(Deposit, account, PURSE_CENTS)
        for account in self.accounts:
            for table in tables:
                started = await self.send(StartSession(self._id("start"), account, table))
                self._sessions[account, table] = str(started["session"])

    async def bet(self, table: str) -> None:
        """Plays round after round at a banked table."""
        while not self.stopping:
            round_id = self._id(f"{table}-round")
            orders = [
                PlaceStake(self._id("stake"), table, 1, round_id, account, self._sessions[account, table], cents)
                for account in self.dice.sample(self.accounts, self.dice.randint(1, 5))
                for cents in self.dice.sample(range(1, 100), self.dice.randint(1, 2))
            ]
            if self.dice.randint(0, 1):
                await self.send_many(orders)
            else:
                await asyncio.gather(*(self.send(order) for order in orders))
            in_play = await self._cancel_one(table, round_id, orders)
            await self._pay_some(table, round_id, in_play)
            await self._end(table, round_id, in_play)

    async def _cancel_one(self, table: str, round_id: str, orders: list[PlaceStake]) -> dict[PlaceStake, int]:
        """Cancels a part of one stake; returns the amounts in play."""
        in_play = {order: order.cents for order in orders}
        stake = self.dice.choice(orders)
        if stake.cents > 1 and self.dice.randint(0, 1):
            cents = self.dice.randint(1, stake.cents - 1)
            part = (stake.request_id, cents)
            cancel = CancelStakes(self._id("cancel"), table, 1, round_id, stake.account, (part,))
            await self.send_twice(cancel)
            in_play[stake] -= cents
        return in_play

    async def _pay_some(self, table: str, round_id: str, in_play: dict[PlaceStake, int]) -> None:
        """Pays none, some, or all but one of the stakes, and removes them from those in play."""
        chosen = self.dice.sample(list(in_play), self.dice.randint(0, len(in_play) - 1))
        if not chosen:
            return
        payouts = {order: in_play[order] * self.dice.choice((0, 1, 2)) for order in chosen}
        named = tuple((order.request_id, payout) for order, payout in payouts.items())
        await self.send_twice(PayStakes(self._id("pay"), table, 1, round_id, named))
        for order, payout in payouts.items():
            self.expected.free[order.account] += payout - in_play.pop(order)

    async def _end(self, table: str, round_id: str, in_play: Mapping[PlaceStake, int]) -> None:
        if self.dice.randint(0, 3) == 0:
            await self.send(VoidRound(self._id("void"), table, 1, round_id))
            self.expected.ended[round_id] = "VOID"
            return
        payouts = {order: cents * self.dice.choice((0, 0, 1, 2, 36)) for order, cents in in_play.items()}
        named = tuple((order.request_id, payout) for order, payout in payouts.items())
        await self.send_twice(SettleRound(self._id("settle"), table, 1, round_id, named))
        for order, payout in payouts.items():
            self.expected.free[order.account] += payout - in_play[order]
        self.expected.ended[round_id] = "SETTLED"

    async def play_poker(self, table: str) -> None:
        """Plays hand after hand among caves that are filled and emptied in between."""
        while not self.stopping:
            seats = self.dice.sample(self.accounts, 3)
            await asyncio.gather(*(self._buy_in(table, account) for account in seats))
            await self._play_hand(table, seats)
            await self._leave(table, seats[0])

    async def _buy_in(self, table: str, account: str) -> None:
        cents, commission = self.dice.randint(100, 500), self.dice.randint(0, 5)
        session = self._sessions[account, table]
        await self.send(BuyIn(self._id("buy-in"), table, 1, account, session, cents, commission))
        self.expected.free[account] -= cents + commission
        self.expected.caves[account, table] += cents

    async def _play_hand(self, table: str, accounts: list[str]) -> None:
        # Half of the smallest pot is more than the commission.
        staked = {account: self.dice.randint(3, 100) for account in accounts}
        pot = sum(staked.values())
        commission = self.dice.randint(0, 3)
        won = Counter({accounts[0]: pot // 2, accounts[1]: pot - pot // 2 - commission})
        seats = tuple(
            SeatResult(account, self._sessions[account, table], staked[account], won[account]) for account in accounts
        )
        round_id = self._id(f"{table}-hand")
        await self.send_twice(TransferHand(self._id("hand"), table, 1, round_id, seats, commission))
        for seat in seats:
            self.expected.caves[seat.account, table] += seat.won - seat.staked
        self.expected.ended[round_id] = "SETTLED"

    async def _leave(self, table: str, account: str) -> None:
        cents = self.expected.caves[account, table]
        await self.send(CashOut(self._id("cash-out"), table, 1, account, self._sessions[account, table], 0))
        self.expected.free[account] += cents
        self.expected.caves[account, table] = 0

    async def play_tournaments(self) -> None:
        """Awards tickets, enters by them, gives them back and settles them, again and again."""
        while not self.stopping:
            ana, rui = self.dice.sample(self.accounts, 2)
            await self._pay_in(SATELLITE, ana)
            await self._pay_out(SATELLITE, _ticket(ana), _ticket(ana), _ticket(rui, from_freeroll=True))
            ticket_id, award = self.dice.choice(list(self._open_tickets.items()))
            del self._open_tickets[ticket_id]
            entry = await self._pay_in(TARGET, award.account_id, ticket_id)
            refund = tournament_pb2.Award(
                account_id=award.account_id,
                reason=tournament_pb2.AWARD_REASON_REFUND,
                amount_cents=TICKET_CENTS,
                refunded_request_id=entry,
                ticket_refund=self.dice.choice(
                    (tournament_pb2.TICKET_REFUND_RETURN, tournament_pb2.TICKET_REFUND_CASH)
                ),
            )
            await self._pay_out(TARGET, refund)
            if ticket_id in self._open_tickets:
                self._open_tickets[ticket_id] = award
            await self._settle_tickets()

    async def _pay_in(self, tournament: str, account: str, ticket_id: str = "") -> str:
        """Pays into a tournament, without a ticket the price of three; returns the id of the request."""
        price = TICKET_CENTS if ticket_id else 3 * TICKET_CENTS
        request = tournament_pb2.PayInRequest(
            request_id=self._id("pay-in"),
            tournament=types_pb2.TableRef(table_id=tournament, epoch=1),
            account_id=account,
            kind=tournament_pb2.PAY_IN_KIND_ENTRY,
            prize_cents=price,
            ticket_id=ticket_id,
        )
        await self._send_to_tournament("PayIn", request)
        self.expected.free[account] -= 0 if ticket_id else price
        return request.request_id

    async def _pay_out(self, tournament: str, *awards: tournament_pb2.Award) -> None:
        request = tournament_pb2.PayOutRequest(
            request_id=self._id("pay-out"),
            tournament=types_pb2.TableRef(table_id=tournament, epoch=1),
            awards=awards,
        )
        paid = tournament_pb2.PayOutResponse.FromString(await self._send_to_tournament("PayOut", request))
        for each in paid.tickets:
            award = awards[each.award_index]
            if each.state in {ticket_pb2.TICKET_STATE_ISSUED, ticket_pb2.TICKET_STATE_RETURNED}:
                self._open_tickets[each.ticket_id] = award
            else:
                self.expected.free[award.account_id] += TICKET_CENTS

    async def _settle_tickets(self) -> None:
        """Lets the open tickets lapse, or reimburses them; a cancelled tournament's from freerolls are replaced."""
        expire, reimburse = tournament_pb2.TICKET_SETTLEMENT_EXPIRE, tournament_pb2.TICKET_SETTLEMENT_REIMBURSE
        settlement = self.dice.choice((expire, reimburse))
        request = tournament_pb2.SettleTicketsRequest(
            request_id=self._id("settle-tickets"),
            tournament=types_pb2.TableRef(table_id=TARGET, epoch=1),
            settlement=settlement,
            freeroll_settlement=settlement,
        )
        if settlement == reimburse:
            request.freeroll_settlement = tournament_pb2.TICKET_SETTLEMENT_REPLACE
            request.replacement_tournament_id = REPLACEMENT
        settled = tournament_pb2.SettleTicketsResponse.FromString(
            await self._send_to_tournament("SettleTickets", request, moves=bool(self._open_tickets))
        )
        assert sum(each.count for each in settled.settled) == len(self._open_tickets)
        for award in self._open_tickets.values():
            if settlement == reimburse and not award.ticket.from_freeroll:
                self.expected.free[award.account_id] += TICKET_CENTS
        self._open_tickets.clear()

    async def _send_to_tournament(self, method: str, request: TournamentRequest, *, moves: bool = True) -> bytes:
        """Sends a command from two callers at the same moment, until both are answered."""

        async def send() -> bytes:
            answer = await self._until_answered(lambda: self.replica.send_to_tournament(method, request))
            await self._record(request.request_id, answer, moves=moves)
            return answer

        first, _ = await asyncio.gather(send(), send())
        return first

    async def deposit(self, cents: int) -> None:
        await self._cash(Deposit, self.accounts[0], cents)

    async def move_cash(self) -> None:
        """Deposits to and withdraws from random accounts."""
        while not self.stopping:
            kind = self.dice.choice((Deposit, Withdraw))
            await self._cash(kind, self.dice.choice(self.accounts), self.dice.randint(1, 1000))

    async def _cash(self, kind: type[Deposit | Withdraw], account: str, cents: int) -> None:
        await self.send(kind(self._id("cash"), account, cents))
        self.expected.free[account] += cents if kind is Deposit else -cents

    def _id(self, kind: str) -> str:
        self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"


def _ticket(account: str, *, from_freeroll: bool = False) -> tournament_pb2.Award:
    """A prize that is a ticket to the target."""
    return tournament_pb2.Award(
        account_id=account,
        reason=tournament_pb2.AWARD_REASON_PRIZE,
        amount_cents=TICKET_CENTS,
        ticket=tournament_pb2.TicketPrize(tournament_id=TARGET, from_freeroll=from_freeroll),
    )


# The values of one entry: transfer, part of the balance, before, amount, after.
EntryValues = tuple[int, int, int, int, int]
# A player's account id, and the table of a cave; both empty for the operator and the bank.
AccountOwner = tuple[str, str]


@dataclass
class StreamContent:
    """The facts of the stream, in its order."""

    messages: Counter[str] = field(default_factory=Counter)
    by_player: defaultdict[AccountOwner, list[EntryValues]] = field(default_factory=lambda: defaultdict(list))
    by_transfers: defaultdict[AccountOwner, list[EntryValues]] = field(default_factory=lambda: defaultdict(list))
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    started: Counter[str] = field(default_factory=Counter)
    versions: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    tickets: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, message: Msg) -> None:
        self.messages[(message.headers or {})["Nats-Msg-Id"]] += 1
        if message.subject == TRANSFERS_SUBJECT:
            _collect(self.by_transfers, events_pb2.TransfersMade.FromString(message.data).transactions)
        elif message.subject.startswith("feltro.wallet.rounds."):
            ended = events_pb2.RoundEnded.FromString(message.data)
            self.ended[ended.round_id, types_pb2.RoundState.Name(ended.state).removeprefix("ROUND_STATE_")] += 1
        else:
            self._add_player_fact(events_pb2.PlayerFact.FromString(message.data))

    def _add_player_fact(self, fact: events_pb2.PlayerFact) -> None:
        if fact.HasField("session_started"):
            self.started[fact.session_started.session.session_id] += 1
            return
        if fact.HasField("ticket_changed"):
            self.tickets[fact.ticket_changed.ticket.ticket_id].append(fact.ticket_changed.ticket.state)
            return
        balance = fact.balance_changed.balance
        self.versions[balance.account_id].append(balance.version)
        _collect(self.by_player, fact.balance_changed.transactions)


def _collect(
    values: defaultdict[AccountOwner, list[EntryValues]], transactions: Iterable[types_pb2.Transaction]
) -> None:
    for one in transactions:
        for entry in one.entries:
            values[one.account_id, one.cave_table_id].append(
                (one.transfer_id, entry.balance_part, entry.before_cents, entry.amount_cents, entry.after_cents)
            )


async def _read_entries(connection: asyncpg.Connection[asyncpg.Record]) -> dict[AccountOwner, list[EntryValues]]:
    """Returns the entries of the ledger, each account's in the order of its versions."""
    entries: defaultdict[AccountOwner, list[EntryValues]] = defaultdict(list)
    for row in await connection.fetch(
        "SELECT coalesce(owner.account_id::text, CASE a.kind WHEN 1 THEN a.account_id::text END, '') AS account_id,"
        " CASE a.kind WHEN 4 THEN t.table_id ELSE '' END AS table_id, e.*"
        " FROM entries e JOIN accounts a USING (account_no) LEFT JOIN tables t ON t.table_no = a.table_no"
        " LEFT JOIN accounts owner ON owner.account_no = a.owner_no AND a.kind = 4"
        " ORDER BY account_no, version, leg"
    ):
        values = (row["transfer_no"], row["pocket"], row["before_cents"], row["amount_cents"], row["after_cents"])
        entries[row["account_id"], row["table_id"]].append(values)
    return entries


@asynccontextmanager
async def _subscribed(url: str, on_fact: Callable[[Msg], Awaitable[None]]) -> AsyncIterator[None]:
    """Calls `on_fact` for each fact when it is published."""
    bus = await nats.connect(url)
    try:
        for subject in stream_config(FACTS_STREAM).subjects or ():
            await bus.subscribe(subject, cb=on_fact)
        yield
    finally:
        await bus.close()


async def _read_stream(url: str, enough: Callable[[StreamContent], bool]) -> StreamContent:
    """Reads the stream from its beginning until the content is enough."""
    content = StreamContent()
    bus = await nats.connect(url)
    try:
        jetstream = bus.jetstream(timeout=DELIVERY_TIMEOUT_S)
        # Without acknowledgements, of which only a thousand may be outstanding.
        reader = await jetstream.pull_subscribe(
            "", stream=FACTS_STREAM, config=ConsumerConfig(ack_policy=AckPolicy.NONE)
        )
        async with asyncio.timeout(DELIVERY_TIMEOUT_S):
            while not enough(content):
                try:
                    for message in await reader.fetch(500, timeout=1):
                        content.add(message)
                except TimeoutError:
                    continue
        info = await jetstream.stream_info(FACTS_STREAM)
        assert info.state.messages == content.messages.total()
    finally:
        await bus.close()
    return content


@pytest.mark.slow
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_g5_acknowledged_commands_exist_once_however_often_the_wallet_is_killed(
    wallet_process: WalletProcess, wallet_database: WalletDatabase
) -> None:
    wallet_process.start()
    await wallet_process.ready()
    async with Replica.connect(wallet_process) as replica, asyncio.timeout(60 + KILLS * TIMEOUT_PER_KILL_S):
        load = Load(wallet_process, replica, Random())
        await load.open()
        async with _subscribed(wallet_process.nats_url, load.count_fact), asyncio.TaskGroup() as callers:
            callers.create_task(load.kill_repeatedly())
            for number in range(ROULETTE_TABLES):
                callers.create_task(load.bet(f"roulette-{number}"))
            for number in range(POKER_TABLES):
                callers.create_task(load.play_poker(f"poker-{number}"))
            callers.create_task(load.play_tournaments())
            for _ in range(3):
                callers.create_task(load.move_cash())
        assert load.expected.unanswered >= KILLS, "the wallet was killed while no call was waiting"

        connection = await connect_asyncpg(wallet_database.url)
        try:
            await _compare_ledger(connection, load.expected)
            await _compare_stream(connection, load.expected, wallet_process.nats_url)
            # A row is removed before the next one is published, so that all but the last must be gone by then.
            await load.deposit(1)
            await _compare_stream(connection, load.expected, wallet_process.nats_url)
            assert await connection.fetchval("SELECT count(*) FROM outbox") <= 1, (
                "published rows are still in the outbox"
            )
        finally:
            await connection.close()
    assert await ledger_audit.violations_at(wallet_database.url) == []


async def _compare_ledger(connection: asyncpg.Connection[asyncpg.Record], expected: Expected) -> None:
    requests = await connection.fetch("SELECT request_id, answer, refused FROM requests")
    assert {row["request_id"]: row["answer"] for row in requests} == expected.answers
    assert not any(row["refused"] for row in requests)
    transfers = await connection.fetch("SELECT request_id FROM transfers")
    assert Counter(row["request_id"] for row in transfers) == Counter(expected.moving)

    purses = await connection.fetch("SELECT account_id::text, free_cents, locked_cents FROM accounts WHERE kind = 1")
    assert {row["account_id"]: row["free_cents"] for row in purses} == dict(expected.free)
    assert not any(row["locked_cents"] for row in purses)
    caves = await connection.fetch(
        "SELECT o.account_id::text, t.table_id, c.free_cents FROM accounts c JOIN tables t USING (table_no)"
        " JOIN accounts o ON o.account_no = c.owner_no WHERE c.kind = 4"
    )
    assert {(row["account_id"], row["table_id"]): row["free_cents"] for row in caves} == dict(expected.caves)
    rounds = await connection.fetch("SELECT round_id, state FROM rounds")
    assert {row["round_id"]: {2: "SETTLED", 3: "VOID"}.get(row["state"]) for row in rounds} == expected.ended


async def _compare_stream(connection: asyncpg.Connection[asyncpg.Record], expected: Expected, nats_url: str) -> None:
    """Verifies that every fact is in the stream exactly once, and in the order of each account's entries."""
    written = await _read_entries(connection)
    operator_and_bank = sorted(written.pop(("", "")))
    entries = sum(map(len, written.values())) + len(operator_and_bank)
    content = await _read_stream(
        nats_url,
        lambda found: (
            sum(map(len, found.by_transfers.values())) >= entries and found.ended.total() >= len(expected.ended)
        ),
    )
    assert set(content.messages.values()) == {1}, "a message id came twice"
    assert dict(content.by_player) == written
    assert sorted(content.by_transfers.pop(("", ""))) == operator_and_bank
    assert dict(content.by_transfers) == written
    assert content.ended == Counter(expected.ended.items())
    # One transfer may change a ticket more than once: the fact has the last change.
    assert content.tickets == {
        row["ticket_id"]: row["states"]
        for row in await connection.fetch(
            "SELECT ticket_id::text, array_agg(told.state ORDER BY told.number) AS states FROM ("
            " SELECT DISTINCT ON (ticket_no, transfer_no) ticket_no, state, number FROM ticket_changes"
            " ORDER BY ticket_no, transfer_no, number DESC) told JOIN tickets USING (ticket_no) GROUP BY ticket_id"
        )
    }
    assert set(content.started.values()) == {1}
    assert len(content.started) == PLAYERS * (ROULETTE_TABLES + POKER_TABLES)
    for versions in content.versions.values():
        assert versions == sorted(versions)
