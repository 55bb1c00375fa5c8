"""Directs one tournament while this process owns it: writes facts, then follows the orders that they give.

One task writes facts, each durably before anything follows from it (G5); another follows their orders at the tables
and in the wallet, in their order; a third lets time pass. Every order may be followed again: a next owner replays the
facts, pays what was not paid, and brings the tables to what the facts say.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.kit import background
from services.kit.clock import Clock
from services.kit.randomness.source import Randomness
from services.kit.randomness.tape import TapeExhausted
from services.kit.refusal import Refused
from services.kit.table import refusals as table_refusals
from services.kit.table.chips.seam import ChipTables
from services.kit.table.journal.tournament_entries import FactJournal, JournalledFact, JournalledRequest, KeptSummary
from services.kit.table.wallet.tournament_wallet import TournamentMoney, TournamentWallet
from services.poker import tournament_hands
from services.poker.directing import views
from services.poker.directing.award_messages import ticket_ends
from services.poker.directing.books import BooksDiffer
from services.poker.directing.course import Course, Step
from services.poker.directing.fact_messages import Payment, fact_message, read_fact
from services.poker.directing.following import Follower, OwnNotices
from services.poker.directing.purchases import Purchases, account_of, ticket_for
from services.poker.directing.replaying import replay_beside
from services.poker.tournament import refusals
from services.poker.tournament.money.entries import Entry, PayIn, Purchase
from services.poker.tournament.refusals import REGULATION
from services.poker.tournament.running import requests
from services.poker.tournament.running.facts import (
    AddedOn,
    CameBack,
    CancelOrdered,
    Event,
    Fact,
    HandVoided,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
    WentAway,
)
from services.poker.tournament.running.facts import Paid as EntryPaid
from services.poker.tournament.running.state import Phase, Tournament, entropy_bytes
from services.poker.tournament.specific_rules_message import message_of, read

GAME = "poker"
# Facts that wait to be written: more calls are refused (G11).
WAITING_LIMIT = 10_000
# How long before the scheduled start registered players are told of it.
STARTS_SOON_MS = 5 * 60_000
# How often time is looked at while nothing else wakes the clock: it may be moved by an operator in development.
CLOCK_CHECK_S = 1.0
# How often it is kept at most how the tournament stands, for the lobby.
SUMMARY_EVERY_S = 0.5

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_JUDGES: Mapping[Purchase, Callable[[Tournament, str], PayIn]] = {
    Purchase.ENTRY: requests.entry,
    Purchase.REBUY: requests.rebuy,
    Purchase.ADDON: requests.addon,
}
_FACTS: Mapping[Purchase, Callable[[str], Fact]] = {
    Purchase.ENTRY: EntryPaid,
    Purchase.REBUY: Rebought,
    Purchase.ADDON: AddedOn,
}
_KINDS = {
    Purchase.ENTRY: wallet_tournament.PAY_IN_KIND_ENTRY,
    Purchase.REENTRY: wallet_tournament.PAY_IN_KIND_RE_ENTRY,
    Purchase.REBUY: wallet_tournament.PAY_IN_KIND_REBUY,
    Purchase.ADDON: wallet_tournament.PAY_IN_KIND_ADD_ON,
}
# Builds what a player is answered from the course after the fact.
Answer = Callable[[Course], Message]


@dataclass(frozen=True, slots=True)
class DirectorDependencies:
    """What a director uses."""

    journal: FactJournal
    wallet: TournamentMoney
    clock: Clock
    randomness: Randomness
    notices: OwnNotices
    game: str = GAME


class _Job(Generic[_Result]):
    """Something that the writer does, and what becomes of it."""

    def __init__(self, work: Callable[[], Awaitable[_Result]], answer: asyncio.Future[_Result]) -> None:
        self._work = work
        self.answer = answer

    async def run(self) -> None:
        """Does it; a refusal is for the caller alone, and what fails otherwise ends the writer."""
        try:
            result = await self._work()
        except Refused as refused:
            self.fail(refused)
        except Exception as failed:
            self.fail(failed)
            raise
        else:
            if not self.answer.done():
                self.answer.set_result(result)

    def fail(self, failed: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(failed)
            # The caller may have stopped waiting: then nobody retrieves it.
            self.answer.exception()


class TournamentDirector:
    """Implements `services.kit.table.chips.seam.Director`."""

    def __init__(
        self, tournament_id: str, configuration: types_pb2.TableConfiguration, dependencies: DirectorDependencies
    ) -> None:
        self.tournament_id = tournament_id
        self.configuration = configuration
        self._dependencies = dependencies
        self._clock = dependencies.clock
        rules, starts_at = read(configuration)
        self._rules_message = message_of(rules, starts_at)
        starts_at_ms = None if starts_at is None else round(starts_at.timestamp() * 1000)
        self._course = Course.begin(tournament_id, rules, starts_at_ms)
        self._epoch = 0
        self._jobs: asyncio.Queue[_Job[Any]] = asyncio.Queue()
        self._steps: asyncio.Queue[tuple[Step, Course, asyncio.Future[None]]] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._summary_due = asyncio.Event()
        # What players have asked, and what they were answered, by player and request.
        self._asked: dict[tuple[str, str], JournalledRequest] = {}
        self._answers: dict[tuple[str, str], bytes] = {}
        self._purchases = Purchases()
        self._wallet: TournamentWallet | None = None
        # Players who were told that the tournament starts soon; a next owner tells them again.
        self._told_of_start: set[str] = set()
        # Players whose presence is about to be written.
        self._presence: dict[str, bool] = {}
        self._has_ended = False
        # Over, paid, and closed in the wallet.
        self._is_closed = False
        self.ready = asyncio.Event()

    # -- how it stands -----------------------------------------------------------------------------------------------

    @property
    def course(self) -> Course:
        return self._course

    def summary(self) -> tournament_pb2.TournamentSummary:
        return views.summary(self._course, self.configuration, self._rules_message)

    def now_ms(self) -> int:
        return round(self._clock.now().timestamp() * 1000)

    @property
    def has_ended(self) -> bool:
        """Whether this process directs it no more."""
        return self._has_ended

    @property
    def is_closed(self) -> bool:
        """Whether the tournament is over for good: its tables answer no more."""
        return self._is_closed

    def wake(self) -> None:
        """Looks at the clock again."""
        self._changed.set()

    # -- its life ----------------------------------------------------------------------------------------------------

    async def run(self, tables: ChipTables, epoch: int) -> None:
        """Directs the tournament until it is over and everybody is paid, or until it is cancelled."""
        self._epoch = epoch
        wallet = self._wallet = TournamentWallet(self._dependencies.wallet, self.tournament_id, epoch)
        await wallet.open(self._dependencies.game, REGULATION, self.configuration.mode)
        follower = Follower(self.tournament_id, tables, wallet, self._dependencies.notices)
        await self._take_over(wallet, follower)
        writing = asyncio.create_task(self._write_forever())
        work = [writing]
        try:
            await self._adopt_payments(wallet)
            await self._verify_pool(wallet, follower)
            await follower.restore(self._course.state, self._course.books)
            self._summary_due.set()
            work += [
                asyncio.create_task(self._follow_forever(follower)),
                asyncio.create_task(self._pass_time(follower)),
                asyncio.create_task(self._keep_summary_forever()),
            ]
            self.ready.set()
            over = asyncio.create_task(self._close_when_over(wallet, follower))
            work.append(over)
            done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self.ready.clear()
            self._has_ended = True
            await background.cancel_and_wait(work)
            while not self._steps.empty():
                self._steps.get_nowait()[2].cancel()
            while not self._jobs.empty():
                self._jobs.get_nowait().fail(_moving())
            await self._purchases.close()

    async def _take_over(self, wallet: TournamentWallet, follower: Follower) -> None:
        """Replays the facts, and pays what follows from them and was not paid (G3)."""
        journal = self._dependencies.journal
        facts = await journal.facts(self.tournament_id)
        self._course, steps = await replay_beside(self._course, facts)
        for asked in await journal.requests(self.tournament_id):
            self._asked[asked.player_id, asked.request_id] = asked
        for fact in facts:
            if fact.request_id:
                self._answers[fact.player_id, fact.request_id] = fact.answer
        if any(step.transfers for step in steps):
            paid = await wallet.paid_out()
            for step in steps:
                for transfer in step.transfers:
                    if transfer.request_id not in paid:
                        await follower.pay(transfer)

    async def _adopt_payments(self, wallet: TournamentWallet) -> None:
        """Writes the facts of what players have paid while the former owner died: the money is in the pool (G3)."""
        asked = {each.pay_in_id: each for each in self._asked.values() if each.pay_in_id}
        for paid in await wallet.pay_ins():
            request = asked.get(paid.request_id)
            if request is None:
                raise BooksDiffer(f"{paid.request_id} was paid in, and nobody has asked for it")
            await self._do(lambda request=request: self._write_asked(request))  # type: ignore[misc]

    async def _verify_pool(self, wallet: TournamentWallet, follower: Follower) -> None:
        """Asserts that the wallet's pool is what the facts say: nothing is played on otherwise (G1, G12)."""
        while not self._steps.empty():
            step, _, followed = self._steps.get_nowait()
            for transfer in step.transfers:
                await follower.pay(transfer)
            followed.set_result(None)
            self._steps.task_done()
        pool_cents = (await wallet.money()).pool_cents
        if pool_cents != self._course.books.wallet_cents:
            raise BooksDiffer(f"the pool holds {pool_cents} cents, and {self._course.books.wallet_cents} by the facts")

    async def _write_forever(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await job.run()
            except asyncio.CancelledError:
                job.fail(_moving())
                raise

    async def _follow_forever(self, follower: Follower) -> None:
        while True:
            step, course, followed = await self._steps.get()
            await follower.follow(step, course.state, course.books, shows=self._steps.empty())
            followed.set_result(None)
            self._steps.task_done()
            self._summary_due.set()

    async def _pass_time(self, follower: Follower) -> None:
        while True:
            self._changed.clear()
            due_ms = self._course.next_due_ms
            now_ms = self.now_ms()
            self._tell_of_start(follower, now_ms)
            if due_ms is not None and due_ms <= now_ms:
                await self._do(self._let_time_pass)
                continue
            left_s = CLOCK_CHECK_S if due_ms is None else min(CLOCK_CHECK_S, (due_ms - now_ms) / 1000)
            await background.wait_for_event(self._changed, left_s)

    def _tell_of_start(self, follower: Follower, now_ms: int) -> None:
        """Tells each registered player once that the tournament starts soon; who registers later is told then."""
        state = self._course.state
        if state.phase is not Phase.REGISTERING or state.starts_at_ms is None:
            return
        if now_ms < state.starts_at_ms - STARTS_SOON_MS:
            return
        for entry in state.registered:
            if entry.player not in self._told_of_start:
                self._told_of_start.add(entry.player)
                follower.tell_of_start(entry.player)

    async def _let_time_pass(self) -> None:
        due_ms = self._course.next_due_ms
        if due_ms is not None and due_ms <= self.now_ms():
            await self._write(TimePassed())

    async def _close_when_over(self, wallet: TournamentWallet, follower: Follower) -> None:
        """Closes the tournament when everybody is paid, and what was paid too late was given back."""
        if not self._course.is_over:
            await self._purchases.over.wait()
        # Nobody begins a purchase any more; those under way are given back.
        await self._purchases.wait()
        await self._do(self._nothing)
        await self._steps.join()
        await self._close(wallet)
        self._is_closed = True
        await follower.close_tables()
        await self._keep_summary(closed=True)
        _log.info("a tournament is over", extra={"tournament_id": self.tournament_id})

    async def _close(self, wallet: TournamentWallet) -> None:
        """Closes the tournament in the wallet, where the tickets to it that nobody has used end first.

        The batches of a former owner are sent again, and change nothing (G3). A satellite may award a ticket between
        the last batch and the closing, which is refused then.
        """
        ends = ticket_ends(self._course.state.phase, self._course.state.rules)
        batch = 0
        while True:
            settled = await wallet.settle_tickets(batch, ends.won, ends.from_freeroll, ends.replacement)
            batch += 1
            if settled.more:
                continue
            try:
                await wallet.close()
            except Refused as refused:
                if refused.reason != "TICKETS_OPEN":
                    raise
            else:
                return

    async def _nothing(self) -> None:
        """Is done when everything before it is written."""

    async def _keep_summary_forever(self) -> None:
        while True:
            await self._summary_due.wait()
            self._summary_due.clear()
            await self._keep_summary(closed=False)
            await asyncio.sleep(SUMMARY_EVERY_S)

    async def _keep_summary(self, *, closed: bool) -> None:
        shown = self.summary()
        kept = KeptSummary(
            self.configuration.mode, shown.phase, closed, shown.SerializeToString(), self._clock.now()
        )  # fmt: skip
        await self._dependencies.journal.keep_summary(self.tournament_id, self._epoch, kept)

    # -- facts -------------------------------------------------------------------------------------------------------

    async def _do(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Has the writer do something, after all that waits; it goes on when the caller is cancelled."""
        if self._jobs.qsize() >= WAITING_LIMIT:
            raise table_refusals.overloaded(WAITING_LIMIT)
        if self._has_ended:
            raise _moving()
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        return await background.shared_result(job.answer)

    async def _write(
        self,
        fact: Fact,
        payment: Payment | None = None,
        *,
        player_id: str = "",
        request_id: str = "",
        answer: Answer | None = None,
    ) -> asyncio.Future[None]:
        """Writes a fact durably, and then lets it have happened (G5); what it returns is done when its orders are."""
        before = self._course
        at_ms = max(self.now_ms(), before.at_ms)
        after, step, entropy = self._apply(at_ms, fact, payment)
        answered = b"" if answer is None else answer(after).SerializeToString()
        message = fact_message(fact, payment).SerializeToString(deterministic=True)
        row = JournalledFact(step.number, at_ms, message, entropy, player_id, request_id, answered)
        await self._dependencies.journal.write_fact(self.tournament_id, self._epoch, row)
        self._course = after
        if request_id:
            self._answers[player_id, request_id] = answered
        followed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._steps.put_nowait((step, after, followed))
        self._changed.set()
        if after.is_over:
            self._purchases.over.set()
        return followed

    def _apply(self, at_ms: int, fact: Fact, payment: Payment | None) -> tuple[Course, Step, bytes]:
        """Returns the course after a fact, with the entropy of its draws."""
        randomness = self._dependencies.randomness
        entropy = randomness.take(entropy_bytes(self._course.state))
        while True:
            try:
                return *self._course.after(Event(at_ms, fact, entropy), payment), entropy
            except TapeExhausted:
                # Continued, not replaced: what was drawn stays drawn (G6).
                entropy += randomness.take(len(entropy))

    # -- what tables report ------------------------------------------------------------------------------------------

    async def hand_ended(self, table: int, number: int, outcome: bytes) -> None:
        """Takes the outcome of a hand; one that is known already, or of a tournament that is over, changes nothing."""

        async def write() -> None:
            if self._is_under_way(table, number):
                await self._write(tournament_hands.hand_ended(table, number, outcome))

        await self._do(write)

    async def hand_voided(self, table: int, number: int) -> None:
        async def write() -> None:
            if self._is_under_way(table, number):
                await self._write(HandVoided(table, number))

        await self._do(write)

    def _is_under_way(self, table: int, number: int) -> bool:
        """Whether the end of a hand is still to be written: it is reported again after a takeover."""
        found = self._course.state.tables.get(table)
        return not self._course.is_over and found is not None and found.hand is not None and found.hand.number == number

    def went_away(self, player_id: str) -> None:
        self._note_presence(player_id, is_away=True)

    def came_back(self, player_id: str) -> None:
        self._note_presence(player_id, is_away=False)

    def _note_presence(self, player_id: str, *, is_away: bool) -> None:
        """Has a presence written, the last one alone if several are noted before that."""
        is_noted = player_id in self._presence
        self._presence[player_id] = is_away
        if is_noted or self._has_ended:
            return

        async def write() -> None:
            await self._write_presence(player_id, is_away=self._presence.pop(player_id))

        self._jobs.put_nowait(_Job(write, asyncio.get_running_loop().create_future()))

    async def _write_presence(self, player_id: str, *, is_away: bool) -> None:
        state = self._course.state
        if self._course.is_over or (player_id in state.away) is is_away or state.entry_in(player_id) is None:
            return
        await self._write(WentAway(player_id) if is_away else CameBack(player_id), player_id=player_id)

    # -- what players and operators ask ------------------------------------------------------------------------------

    async def set_presence(self, player_id: str, *, is_away: bool) -> tournament_pb2.TournamentPlayer:
        """Has a player sit out, or decide again."""

        async def write() -> tournament_pb2.TournamentPlayer:
            self._entry_in(player_id, "27")
            await self._write_presence(player_id, is_away=is_away)
            return self._shown(self._course, player_id)

        return await self._do(write)

    async def decline_rebuy(self, player_id: str) -> tournament_pb2.TournamentPlayer:
        """Declines the rebuy that a player is asked for; does nothing where none is asked."""

        async def write() -> tournament_pb2.TournamentPlayer:
            state = self._course.state
            entry = state.entry_in(player_id)
            if entry is None and not state.entries_of(player_id):
                raise refusals.not_registered(player_id, "31")
            if entry is not None and entry.number in state.awaited:
                await self._write(RebuyDeclined(player_id), player_id=player_id)
            return self._shown(self._course, player_id)

        return await self._do(write)

    async def cancel(self, reason: str) -> tournament_pb2.TournamentSummary:
        """Cancels the tournament (35), and returns when everybody is paid."""

        async def write() -> asyncio.Future[None] | None:
            if self._course.state.phase is Phase.CANCELLED:
                return None
            if self._course.is_over:
                raise tournament_over(self.tournament_id, views.PHASES[self._course.state.phase])
            return await self._write(CancelOrdered(reason))

        followed = await self._do(write)
        if followed is not None:
            await background.shared_result(followed)
        return self.summary()

    async def unregister(self, player_id: str, request_id: str, command_digest: bytes) -> bytes:
        """Takes a registration back, and returns the answer when the price is paid back (24, 25)."""
        known = self.answered(player_id, request_id, command_digest)
        if known is not None:
            return known
        fact = fact_message(Unregistered(player_id)).SerializeToString(deterministic=True)
        asked = JournalledRequest(player_id, request_id, command_digest, "", "", fact)

        async def write() -> asyncio.Future[None] | None:
            if self.answered(player_id, request_id, command_digest) is not None:
                return None
            number = requests.unregister(self._course.state, player_id, self.now_ms()).number
            await self._ask(asked)

            def answer(after: Course) -> Message:
                return tournament_pb2.UnregisterResponse(entry=self._shown(after, player_id, number))

            return await self._write(
                Unregistered(player_id), player_id=player_id, request_id=request_id, answer=answer
            )  # fmt: skip

        followed = await self._do(write)
        if followed is not None:
            await background.shared_result(followed)
        return self._answers[player_id, request_id]

    async def buy(
        self, what: Purchase, player_id: str, request_id: str, command_digest: bytes, ticket_id: str = ""
    ) -> bytes:
        """Sells an entry, a rebuy or an add-on, and returns the answer: money or ticket are taken first (21, 22).

        What is under way goes on when the caller is gone; one purchase of a player follows another.
        """
        known = self.answered(player_id, request_id, command_digest)
        if known is not None:
            return known
        if not self.ready.is_set():
            raise _moving()
        return await self._purchases.run(
            player_id, lambda: self._buy(what, player_id, request_id, command_digest, ticket_id)
        )  # fmt: skip

    async def _buy(
        self, what: Purchase, player_id: str, request_id: str, command_digest: bytes, ticket_id: str
    ) -> bytes:
        known = self.answered(player_id, request_id, command_digest)
        if known is not None:
            return known
        pay_in = _JUDGES[what](self._course.state, player_id)
        asked = self._asked.get((player_id, request_id)) or await self._ask_for(
            pay_in, what, request_id, command_digest, ticket_id
        )
        if asked.pay_in_id and self._wallet is not None:
            price, kind = pay_in.price, _KINDS[pay_in.purchase]
            parts = (price.prize_cents, price.fee_cents, price.bounty_cents)
            await self._wallet.pay_in(asked.pay_in_id, asked.account_id, kind, parts, command_digest, ticket_id)
        await self._do(lambda: self._write_asked(asked))
        return self._answers[player_id, request_id]

    async def _ask_for(
        self, pay_in: PayIn, what: Purchase, request_id: str, command_digest: bytes, ticket_id: str
    ) -> JournalledRequest:
        """Puts on record what a player is about to pay for, and with what."""
        player_id, wallet = pay_in.player, self._dependencies.wallet
        cents = 0 if ticket_id else pay_in.price.total_cents
        name = _short(player_id, request_id)
        account_id = await account_of(
            wallet, player_id, self.configuration.mode, cents, f"{self.tournament_id}:demo:{name}"
        )
        fact = _FACTS[what](player_id)
        if ticket_id:
            ticket = await ticket_for(wallet, ticket_id, player_id, account_id)
            by_ticket = requests.entry(self._course.state, player_id, ticket)
            fact = EntryPaid(player_id, by_ticket.paid_by, ticket_id)
        pay_in_id = f"{self.tournament_id}:in:{name}" if pay_in.price.total_cents else ""
        message = fact_message(fact, Payment(account_id, pay_in_id)).SerializeToString(deterministic=True)
        asked = JournalledRequest(player_id, request_id, command_digest, account_id, pay_in_id, message)
        return await self._do(lambda: self._ask(asked))

    async def _ask(self, asked: JournalledRequest) -> JournalledRequest:
        """Writes what a player asks before money is asked for it: a next owner knows what was paid for (G3)."""
        journal, now = self._dependencies.journal, self._clock.now()
        stored = await journal.write_request(self.tournament_id, self._epoch, asked, now)
        self._asked[asked.player_id, asked.request_id] = stored
        if stored.command_digest != asked.command_digest:
            raise table_refusals.request_reused(asked.request_id)
        return stored

    async def _write_asked(self, asked: JournalledRequest) -> None:
        """Writes the fact of a purchase that is paid; one that is on record changes nothing."""
        player_id, before = asked.player_id, self._course.state
        if (player_id, asked.request_id) in self._answers:
            return
        fact, payment = read_fact(asked.fact)

        def answer(after: Course) -> Message:
            if isinstance(fact, EntryPaid):
                return tournament_pb2.RegisterResponse(entry=self._shown(after, player_id))
            given_back = after.state.late_payments > before.late_payments
            kind = tournament_pb2.RebuyResponse if isinstance(fact, Rebought) else tournament_pb2.AddOnResponse
            return kind(entry=self._shown(after, player_id), given_back=given_back)

        await self._write(fact, payment, player_id=player_id, request_id=asked.request_id, answer=answer)

    def _entry_in(self, player_id: str, paragraph: str) -> Entry:
        entry = self._course.state.entry_in(player_id)
        if entry is None:
            raise refusals.not_registered(player_id, paragraph)
        return entry

    def _shown(self, course: Course, player_id: str, number: int = 0) -> tournament_pb2.TournamentPlayer:
        """Builds the player's last entry, or another one of theirs, for the player alone."""
        entries = [entry for entry in course.state.entries.values() if entry.player == player_id]
        return views.own_player(course, course.state.entries[number] if number else entries[-1])

    def answered(self, player_id: str, request_id: str, command_digest: bytes) -> bytes | None:
        """Returns the first answer to a repeated command; refuses its id for another command (G3)."""
        asked = self._asked.get((player_id, request_id))
        if asked is not None and asked.command_digest != command_digest:
            raise table_refusals.request_reused(request_id)
        return self._answers.get((player_id, request_id))


def _short(*parts: str) -> str:
    """Shortens parts that together are too long for a request id."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def tournament_over(tournament_id: str, phase: int) -> table_refusals.TableRefused:
    return table_refusals.TableRefused(
        "TOURNAMENT_OVER",
        "The tournament is over, and everybody is paid.",
        tournament_id=tournament_id,
        phase=tournament_pb2.TournamentPhase.Name(tournament_pb2.TournamentPhase.ValueType(phase)),
    )


def _moving() -> table_refusals.TableRefused:
    return table_refusals.unavailable("The tournament is just moving to another process")
